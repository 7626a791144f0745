package schemas

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// sameFields compares names and types. Parquet keeps neither the metadata of a
// schema nor the names of list elements, and reads every list as nullable.
func sameFields(a, b []arrow.Field) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !sameType(a[i].Type, b[i].Type) {
			return false
		}
	}
	return true
}

func sameType(a, b arrow.DataType) bool {
	switch a := a.(type) {
	case *arrow.ListType:
		b, ok := b.(*arrow.ListType)
		return ok && sameType(a.Elem(), b.Elem())
	case *arrow.StructType:
		b, ok := b.(*arrow.StructType)
		return ok && sameFields(a.Fields(), b.Fields())
	}
	return arrow.TypeEqual(a, b)
}

// batchOf takes the nodes and buffers out of a record that Arrow's own code has
// made, in the order of the IPC format. Nulls are an error.
func batchOf(rec arrow.Record) (*batch, error) {
	b := &batch{}
	for i, column := range rec.Columns() {
		// A column may be a slice, on every level; a copy begins at 0 and ends with its
		// last element. Arrow's own IPC writer cannot write every slice.
		whole, err := array.Concatenate([]arrow.Array{column}, memory.DefaultAllocator)
		if err != nil {
			return nil, fmt.Errorf("copying column %s: %w", rec.ColumnName(i), err)
		}
		if err := b.add(whole.Data()); err != nil {
			return nil, fmt.Errorf("column %s: %w", rec.ColumnName(i), err)
		}
	}
	return b, nil
}

func (b *batch) add(d arrow.ArrayData) error {
	if d.NullN() != 0 {
		return corrupt("has nulls")
	}
	b.nodes = append(b.nodes, d.Len())
	b.buffers = append(b.buffers, nil) // of validity
	for _, buffer := range d.Buffers()[1:] {
		var bytes []byte
		if buffer != nil {
			bytes = buffer.Bytes()
		}
		b.buffers = append(b.buffers, bytes)
	}
	for _, child := range d.Children() {
		if err := b.add(child); err != nil {
			return err
		}
	}
	return nil
}
