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
	groupBytes = 32 << 20
	// batchValues is how many values Arrow encodes at once.
	batchValues = 64 << 10
)

// properties are how a file is written. Arrow makes a new Zstandard encoder for
// every page, and a buffer of levels grows with every write where pages are of
// version 1: both cost more than all the rest. So does a dictionary of a column with
// a value for every token, which allocates for each.
func properties(schema *arrow.Schema) *parquet.WriterProperties {
	all := []parquet.WriterProperty{
		parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDataPageVersion(parquet.DataPageV2),
		parquet.WithMaxRowGroupLength(groupRows), parquet.WithBatchSize(batchValues),
	}
	for _, path := range tokenColumns("", schema.Fields()) {
		all = append(all, parquet.WithDictionaryFor(path, false))
	}
	return parquet.NewWriterProperties(all...)
}

// tokenColumns are the Parquet paths of the columns with a number for every token.
// Policy versions come in long runs, of which Snappy leaves a twentieth; differences
// (DELTA_BINARY_PACKED) would leave less, but Arrow's encoder of them panics at a page
// of empty lists.
func tokenColumns(prefix string, fields []arrow.Field) (paths []string) {
	for _, f := range fields {
		switch t := f.Type.(type) {
		case *arrow.StructType:
			paths = append(paths, tokenColumns(prefix+f.Name+".", t.Fields())...)
		case *arrow.ListType:
			switch f.Name {
			case "tokens", "log_probs", "versions":
				paths = append(paths, prefix+f.Name+".list.element")
			}
		}
	}
	return paths
}

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
	schema := withoutRun(c.Schema())
	// The stored Arrow schema carries the record's name and version.
	stored := pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())
	// The Parquet writer closes what it writes to; the pending file has to stay open
	// until it is renamed.
	writer, err := pqarrow.NewFileWriter(schema, writeOnly{pending}, properties(schema), stored)
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
