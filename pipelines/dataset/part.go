package dataset

import (
	"errors"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/google/renameio/v2"
)

// groupRows is the number of rows of a row group, groupBytes the size of the
// frames of all rows that wait to be written: large enough to compress and scan
// well, small enough to hold in memory a few times over.
const (
	groupRows  = 2048
	groupBytes = 8 << 20
)

// Codec is what is needed of a schemas.Codec.
type Codec[T any] interface {
	Record(rows ...T) arrow.Record
	Rows(arrow.Record) ([]T, error)
	Schema() *arrow.Schema
}

// part is a Parquet file that appears under its name when it is whole.
type part[T any] struct {
	codec   Codec[T]
	pending *renameio.PendingFile
	writer  *pqarrow.FileWriter
	group   []T // the rows of the row group under way
	bytes   int // the size of their frames
}

func create[T any](path string, c Codec[T]) (*part[T], error) {
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
	writer, err := pqarrow.NewFileWriter(withoutRun(c.Schema()), writeOnly{pending}, properties, stored)
	if err != nil {
		return nil, errors.Join(err, pending.Cleanup())
	}
	return &part[T]{codec: c, pending: pending, writer: writer}, nil
}

type writeOnly struct{ file *renameio.PendingFile }

func (w writeOnly) Write(p []byte) (int, error) { return w.file.Write(p) }

// add adds a row whose frame took the given number of bytes.
func (f *part[T]) add(r T, bytes int) error {
	f.group = append(f.group, r)
	f.bytes += bytes
	if len(f.group) < groupRows {
		return nil
	}
	return f.flush()
}

// flush writes the row group under way.
func (f *part[T]) flush() error {
	if len(f.group) == 0 {
		return nil
	}
	record := dropRun(f.codec.Record(f.group...))
	defer record.Release()
	clear(f.group)
	f.group, f.bytes = f.group[:0], 0
	return f.writer.Write(record)
}

// commit finishes the file and gives it its name.
func (f *part[T]) commit() error {
	if err := errors.Join(f.flush(), f.writer.Close()); err != nil {
		return err
	}
	return f.pending.CloseAtomicallyReplace()
}

// abandon removes what was written, unless it was committed.
func (f *part[T]) abandon() { f.pending.Cleanup() }
