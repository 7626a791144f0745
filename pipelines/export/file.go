package export

import (
	"crypto/sha256"
	"errors"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/google/renameio/v2"
)

// A row group is written when it has groupRows rows or its frames had
// groupBytes: large enough to compress and scan well, small enough to hold in
// memory a few times over.
const (
	groupRows  = 2048
	groupBytes = 8 << 20
)

// row and codec are what is needed of a schemas.Codec.
type row interface{ Validate() error }

type codec[T any] interface {
	Decode(frame []byte) ([]T, error)
	Record(rows ...T) arrow.Record
	Schema() *arrow.Schema
}

// parquetFile is a Parquet file that appears under its name when it is whole.
type parquetFile[T any] struct {
	codec   codec[T]
	pending *renameio.PendingFile
	writer  *pqarrow.FileWriter
	group   []T // the rows of the row group under way
	bytes   int // the size of their frames
}

func create[T any](path string, c codec[T]) (*parquetFile[T], error) {
	pending, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o644))
	if err != nil {
		return nil, err
	}
	properties := parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithMaxRowGroupLength(groupRows))
	// The stored Arrow schema carries the record's name and version.
	stored := pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())
	// The Parquet writer closes what it writes to; the pending file has to stay open
	// until it is renamed.
	writer, err := pqarrow.NewFileWriter(c.Schema(), writeOnly{pending}, properties, stored)
	if err != nil {
		return nil, errors.Join(err, pending.Cleanup())
	}
	return &parquetFile[T]{codec: c, pending: pending, writer: writer}, nil
}

type writeOnly struct{ file *renameio.PendingFile }

func (w writeOnly) Write(p []byte) (int, error) { return w.file.Write(p) }

// add adds a row whose frame took the given number of bytes.
func (f *parquetFile[T]) add(r T, bytes int) error {
	f.group = append(f.group, r)
	f.bytes += bytes
	if len(f.group) < groupRows && f.bytes < groupBytes {
		return nil
	}
	return f.flush()
}

// flush writes the row group under way.
func (f *parquetFile[T]) flush() error {
	if len(f.group) == 0 {
		return nil
	}
	record := f.codec.Record(f.group...)
	defer record.Release()
	clear(f.group)
	f.group, f.bytes = f.group[:0], 0
	return f.writer.Write(record)
}

// commit finishes the file and gives it its name.
func (f *parquetFile[T]) commit() error {
	if err := errors.Join(f.flush(), f.writer.Close()); err != nil {
		return err
	}
	return f.pending.CloseAtomicallyReplace()
}

// abandon removes what was written, unless it was committed.
func (f *parquetFile[T]) abandon() { f.pending.Cleanup() }

// digest stands for an id among those seen: two ids with one digest are less
// likely than a broken disk.
type digest [16]byte

func digestOf(id string) digest {
	sum := sha256.Sum256([]byte(id))
	return digest(sum[:16])
}
