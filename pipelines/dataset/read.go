package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// readRows is the number of rows held at once: trajectories of a hundred thousand
// tokens take a few MiB each.
const readRows = 64

// Read visits the rows of a file in order, whichever version of the record wrote
// them; what that version did not know is zero. It holds a row group as the file
// has it, and readRows rows. An error names the file; that of visit ends the
// reading.
func Read[T any](ctx context.Context, f File, codec Codec[T], visit func(T) error) error {
	return ReadGroups(ctx, f, nil, codec, func(_ int64, row T) error { return visit(row) })
}

// ReadGroups is Read for some row groups of a file, ascending; nil are all. visit is
// told the number of a row in the file, from 0.
func ReadGroups[T any](ctx context.Context, f File, groups []int, codec Codec[T], visit func(row int64, r T) error) (err error) {
	defer func() {
		// The file may be anybody's, and Arrow's reader trusts what it finds.
		if p := recover(); p != nil {
			err = fmt.Errorf("reading %s: not a sound Parquet file: %v", f.Path, p)
		}
	}()
	if err := read(ctx, f, groups, codec, visit); err != nil {
		return fmt.Errorf("reading %s: %w", f.Path, err)
	}
	return nil
}

func read[T any](ctx context.Context, f File, groups []int, codec Codec[T], visit func(int64, T) error) error {
	parquetFile, err := file.OpenParquetFile(f.Path, false)
	if err != nil {
		return err
	}
	defer parquetFile.Close()
	reader, err := pqarrow.NewFileReader(parquetFile, pqarrow.ArrowReadProperties{BatchSize: readRows}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	if parquetFile.NumRows() == 0 {
		return nil
	}
	records, err := reader.GetRecordReader(ctx, nil, groups)
	if err != nil {
		return err
	}
	defer records.Release()
	numbers := rowNumbers(parquetFile, groups)
	for records.Next() {
		record := putRun(records.Record(), codec.Schema(), f.Run)
		rows, err := codec.Rows(record)
		record.Release()
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := visit(numbers(), row); err != nil {
				return err
			}
		}
	}
	if err := records.Err(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return ctx.Err()
}

// rowNumbers returns a function whose calls tell the numbers of the rows of some row
// groups, one after the other.
func rowNumbers(f *file.Reader, groups []int) func() int64 {
	next := int64(0)
	if groups == nil {
		return func() int64 { next++; return next - 1 }
	}
	first := make([]int64, f.NumRowGroups()+1)
	for i := range f.NumRowGroups() {
		first[i+1] = first[i] + f.MetaData().RowGroup(i).NumRows()
	}
	at := -1
	return func() int64 {
		for at < 0 || next == first[groups[at]+1] {
			at++
			next = first[groups[at]]
		}
		next++
		return next - 1
	}
}
