package schemas

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
)

// Row is a record type: it knows its contract.
type Row interface {
	// Validate returns an *InvalidError that names the first broken field.
	Validate() error
}

// Codec translates rows of one record type to frames and Arrow records and
// back. It is safe for concurrent use.
//
// A codec writes its newest version and reads every version it ever wrote; the
// files in testdata/v<n> are those versions' frames. A new version is a new
// layout behind the others, whose columns set what they know and leave the new
// fields zero.
type Codec[T Row] struct {
	name    string
	layouts []layout[T] // of version 1, 2, ...
}

type layout[T any] struct {
	columns     []column[T]
	schema      *arrow.Schema
	encoder     *encoder
	fingerprint [8]byte
}

// newCodec makes a codec from the columns of its versions, oldest first.
func newCodec[T Row](name string, versions ...[]column[T]) *Codec[T] {
	c := &Codec[T]{name: name}
	for i, columns := range versions {
		meta := arrow.NewMetadata(
			[]string{"millrace.schema", "millrace.version"},
			[]string{name, strconv.Itoa(i + 1)})
		l := layout[T]{columns: columns, schema: arrow.NewSchema(fields(columns), &meta)}
		var err error
		if l.encoder, err = newEncoder(l.schema); err != nil {
			panic(fmt.Sprintf("schemas: writing the schema of %s: %v", name, err))
		}
		sum := sha256.Sum256(l.encoder.schemaMessage())
		copy(l.fingerprint[:], sum[:])
		c.layouts = append(c.layouts, l)
	}
	return c
}

func (c *Codec[T]) newest() *layout[T] { return &c.layouts[len(c.layouts)-1] }

// Name is the schema's name, "sample" for example.
func (c *Codec[T]) Name() string { return c.name }

// Version is the version that Encode writes.
func (c *Codec[T]) Version() int { return len(c.layouts) }

// Fingerprint identifies the schema of the version that Encode writes.
func (c *Codec[T]) Fingerprint() [8]byte { return c.newest().fingerprint }

// Schema is the Arrow schema of the version that Encode writes. Its metadata
// holds name and version.
func (c *Codec[T]) Schema() *arrow.Schema { return c.newest().schema }

// Encode returns the rows as one frame. Equal rows give equal bytes. A row that
// breaks its contract is an *InvalidError, and so nothing invalid is written.
func (c *Codec[T]) Encode(rows ...T) ([]byte, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("encoding %s: a frame holds at least one row", c.name)
	}
	if err := c.validate(rows); err != nil {
		return nil, fmt.Errorf("encoding %s: %w", c.name, err)
	}
	l := c.newest()
	frame, err := l.encode(frameHead, rows)
	if err != nil {
		return nil, fmt.Errorf("encoding %d rows of %s: %w", len(rows), c.name, err)
	}
	if err := sealFrame(frame, uint16(c.Version()), l.fingerprint, len(rows)); err != nil {
		return nil, fmt.Errorf("encoding %d rows of %s: %w", len(rows), c.name, err)
	}
	return frame, nil
}

// Decode returns the rows of a frame of any version. The rows share no memory
// with frame; empty lists are nil. Damaged or foreign bytes are an error marked
// ErrCorrupt, a row that breaks its contract is an *InvalidError, a reference to
// a blob that could not be followed is a *BlobError. No input makes it panic, and
// memory stays within a small multiple of len(frame).
func (c *Codec[T]) Decode(frame []byte) (rows []T, err error) {
	// The checks leave nothing to recover from, and the fuzz targets call decode
	// to prove it; a stage must still not die of what they may have missed.
	defer func() {
		if p := recover(); p != nil {
			rows, err = nil, corrupt("decoding %s: %v", c.name, p)
		}
	}()
	return c.decode(frame)
}

// DecodeOne decodes a frame that must hold one row; another number is
// [ErrCorrupt].
func (c *Codec[T]) DecodeOne(frame []byte) (row T, err error) {
	rows, err := c.Decode(frame)
	if err != nil {
		return row, err
	}
	if len(rows) != 1 {
		return row, fmt.Errorf("decoding %s: %w", c.name, corrupt("the frame holds %d rows, want 1", len(rows)))
	}
	return rows[0], nil
}

func (c *Codec[T]) decode(frame []byte) ([]T, error) {
	f, err := OpenFrame(frame)
	if err != nil {
		return nil, fmt.Errorf("decoding %s: %w", c.name, err)
	}
	if isBlob(f.Fingerprint) && c.name != Blobs.name {
		return nil, fmt.Errorf("decoding %s: %w", c.name, away(frame))
	}
	if f.Version == 0 || int(f.Version) > len(c.layouts) {
		return nil, fmt.Errorf("decoding %s: %w", c.name,
			corrupt("version %d is not known, this build reads 1 to %d", f.Version, len(c.layouts)))
	}
	l := &c.layouts[f.Version-1]
	if f.Fingerprint != l.fingerprint {
		return nil, fmt.Errorf("decoding %s: %w", c.name,
			corrupt("schema fingerprint %x is not %x of %s version %d", f.Fingerprint, l.fingerprint, c.name, f.Version))
	}
	if f.Rows == 0 || uint64(f.Rows) > uint64(len(f.Payload)) {
		return nil, fmt.Errorf("decoding %s: %w", c.name,
			corrupt("%d rows in a payload of %d bytes", f.Rows, len(f.Payload)))
	}
	batch, err := openBatch(l.encoder.schemaMessage(), f.Payload, int(f.Rows))
	if err != nil {
		return nil, fmt.Errorf("decoding %s: %w", c.name, err)
	}
	rows, err := c.read(l, batch, int(f.Rows))
	if err != nil {
		return nil, fmt.Errorf("decoding %s: %w", c.name, err)
	}
	return rows, nil
}

// Record returns the rows as an Arrow record, unchecked. The caller releases it.
func (c *Codec[T]) Record(rows ...T) arrow.Record {
	l := c.newest()
	return l.encoder.record(l.schema, len(rows), l.writer(rows))
}

// encode returns room bytes, which are 0, and behind them the rows as an Arrow
// IPC stream.
func (l *layout[T]) encode(room int, rows []T) ([]byte, error) {
	return l.encoder.encode(room, len(rows), l.writer(rows))
}

// writer appends the columns of the rows to a body.
func (l *layout[T]) writer(rows []T) func(*body) {
	return func(b *body) {
		writeColumns(b, l.columns, len(rows), func(i int) *T { return &rows[i] })
	}
}

// Rows returns the rows of an Arrow record that this package or a Parquet
// reader made; never give it a record from elsewhere. The record must have the
// columns of one of the codec's versions, without nulls.
func (c *Codec[T]) Rows(rec arrow.Record) ([]T, error) {
	for i := len(c.layouts) - 1; i >= 0; i-- {
		l := &c.layouts[i]
		if sameFields(l.schema.Fields(), rec.Schema().Fields()) {
			var rows []T
			b, err := batchOf(rec)
			if err == nil {
				rows, err = c.read(l, b, int(rec.NumRows()))
			}
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", c.name, err)
			}
			return rows, nil
		}
	}
	return nil, fmt.Errorf("reading %s: %w", c.name, corrupt("a record has the schema %s", rec.Schema()))
}

func (c *Codec[T]) read(l *layout[T], b *batch, n int) ([]T, error) {
	if err := b.hold(n, least(l.columns)); err != nil {
		return nil, err
	}
	rows := make([]T, n)
	err := readColumns(b, l.columns, n, func(i int) *T { return &rows[i] })
	if err == nil {
		err = b.done()
	}
	if err != nil {
		return nil, err
	}
	return rows, c.validate(rows)
}

func (c *Codec[T]) validate(rows []T) error {
	for i := range rows {
		err := rows[i].Validate()
		if invalid, ok := errors.AsType[*InvalidError](err); ok {
			invalid.Row = i
		}
		if err != nil {
			return err
		}
	}
	return nil
}
