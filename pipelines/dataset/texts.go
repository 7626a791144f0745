package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// Texts visits the values of one column of text, such as "trajectory.group_id", with
// the number of the row group that each is in. Nothing else of the file is read.
func Texts(ctx context.Context, f File, column string, visit func(group int, value string)) (err error) {
	defer func() {
		if p := recover(); p != nil { // as in Read
			err = fmt.Errorf("reading %s: not a sound Parquet file: %v", f.Path, p)
		}
	}()
	if err := texts(ctx, f, column, visit); err != nil {
		return fmt.Errorf("reading column %s of %s: %w", column, f.Path, err)
	}
	return nil
}

func texts(ctx context.Context, f File, column string, visit func(int, string)) error {
	parquetFile, err := file.OpenParquetFile(f.Path, false)
	if err != nil {
		return err
	}
	defer parquetFile.Close()
	index := parquetFile.MetaData().Schema.ColumnIndexByName(column)
	if index < 0 {
		return errors.New("there is no such column")
	}
	reader, err := pqarrow.NewFileReader(parquetFile, pqarrow.ArrowReadProperties{BatchSize: textRows}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	for group := range parquetFile.NumRowGroups() {
		records, err := reader.GetRecordReader(ctx, []int{index}, []int{group})
		if err != nil {
			return err
		}
		for records.Next() {
			values, err := leaf(records.Record().Column(0))
			if err != nil {
				records.Release()
				return err
			}
			for i := range values.Len() {
				visit(group, values.Value(i))
			}
		}
		err = records.Err()
		records.Release()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return ctx.Err()
}

// textRows is the number of values held at once.
const textRows = 4096

// leaf finds the text below structs of one field.
func leaf(a arrow.Array) (*array.String, error) {
	switch a := a.(type) {
	case *array.String:
		return a, nil
	case *array.Struct:
		if a.NumField() == 1 {
			return leaf(a.Field(0))
		}
	}
	return nil, fmt.Errorf("it is of type %s, not text", a.DataType())
}
