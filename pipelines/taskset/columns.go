package taskset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

const (
	// batchRows is how many rows of a Parquet file are held at once: rows of R2E-Gym
	// take about a megabyte.
	batchRows = 16
	// pageBytes is what is read of a column at a time.
	pageBytes = 1 << 20
)

// parquetRows visits the rows of a Parquet file, numbered from 1, with the columns
// that choose picks from those of the file. Of a column a page is held, and
// batchRows rows of all. A row over limit bytes is visited with an errLong.
func parquetRows(ctx context.Context, path string, limit int, choose func([]string) ([]string, error), visit visitor) (err error) {
	defer func() {
		// The file may be anybody's, and Arrow's reader trusts what it finds.
		if p := recover(); p != nil {
			err = fmt.Errorf("not a sound Parquet file: %v", p)
		}
	}()
	props := parquet.NewReaderProperties(memory.DefaultAllocator)
	props.BufferedStreamEnabled, props.BufferSize = true, pageBytes
	f, err := file.OpenParquetFile(path, false, file.WithReadProps(props))
	if err != nil {
		return err
	}
	defer f.Close()
	// The stored Arrow schema may ask for types that this reader cannot make, such as
	// categories and large strings; the file's own types are enough.
	f.MetaData().FileMetaData.KeyValueMetadata = nil
	names, leaves := topLevel(f)
	wanted, err := choose(names)
	if err != nil || f.NumRows() == 0 {
		return err
	}
	var indices []int
	for leaf, name := range leaves {
		if slices.Contains(wanted, name) {
			indices = append(indices, leaf)
		}
	}
	reader, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: batchRows}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	records, err := reader.GetRecordReader(ctx, indices, nil)
	if err != nil {
		return err
	}
	defer records.Release()
	n := int64(0)
	for records.Next() {
		for i := range int(records.Record().NumRows()) {
			n++
			r, bad := recordRow(records.Record(), i, limit)
			if err := visit(n, float64(n)/float64(f.NumRows()), r, bad); err != nil {
				return err
			}
		}
	}
	if err := records.Err(); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("behind row %d: %w", n, err)
	}
	if n < f.NumRows() && ctx.Err() == nil {
		return fmt.Errorf("the file ends behind row %d of %d", n, f.NumRows())
	}
	return ctx.Err()
}

// topLevel returns the columns of a file, and the one that each leaf is part of.
func topLevel(f *file.Reader) (names, ofLeaf []string) {
	schema := f.MetaData().Schema
	for i := range schema.NumColumns() {
		name := schema.Column(i).ColumnPath()[0]
		ofLeaf = append(ofLeaf, name)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, ofLeaf
}

// recordRow is one row of a record batch.
func recordRow(record arrow.Record, i, limit int) (*row, error) {
	r := &row{values: make(map[string]any, record.NumCols())}
	size := 0
	for c, column := range record.Columns() {
		v, bytes, err := arrowValue(column, i)
		if err != nil {
			return nil, &fieldError{record.ColumnName(c), err}
		}
		if size += bytes; size > limit {
			return nil, errLong{limit}
		}
		r.values[record.ColumnName(c)] = v
	}
	return r, nil
}
