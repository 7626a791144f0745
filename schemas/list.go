package schemas

import (
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// list builds a list column from how a slice is appended to the element
// builder, and how the elements beg to end of the element array are read back.
// An empty list reads back as nil.
func list[T, E any](
	name string, element arrow.DataType, field func(*T) *[]E,
	write func(b array.Builder, values []E),
	read func(a arrow.Array, beg, end int) ([]E, error),
) column[T] {
	return column[T]{
		name: name, typ: arrow.ListOfNonNullable(element),
		write: func(b array.Builder, n int, at func(int) *T) {
			lists := b.(*array.ListBuilder)
			for i := range n {
				lists.Append(true)
				write(lists.ValueBuilder(), *field(at(i)))
			}
		},
		read: func(a arrow.Array, at func(int) *T) error {
			lists := a.(*array.List)
			for i := range a.Len() {
				beg, end := lists.ValueOffsets(i)
				if beg == end {
					*field(at(i)) = nil
					continue
				}
				values, err := read(lists.ListValues(), int(beg), int(end))
				if err != nil {
					return err
				}
				*field(at(i)) = values
			}
			return nil
		},
	}
}

// i32s, f32s and bools are the token columns. They are copied in bulk.
func i32s[T any](name string, field func(*T) *[]int32) column[T] {
	return list(name, arrow.PrimitiveTypes.Int32, field,
		func(b array.Builder, v []int32) { b.(*array.Int32Builder).AppendValues(v, nil) },
		func(a arrow.Array, beg, end int) ([]int32, error) {
			return append([]int32(nil), a.(*array.Int32).Int32Values()[beg:end]...), nil
		})
}

func f32s[T any](name string, field func(*T) *[]float32) column[T] {
	return list(name, arrow.PrimitiveTypes.Float32, field,
		func(b array.Builder, v []float32) { b.(*array.Float32Builder).AppendValues(v, nil) },
		func(a arrow.Array, beg, end int) ([]float32, error) {
			return append([]float32(nil), a.(*array.Float32).Float32Values()[beg:end]...), nil
		})
}

func bools[T any](name string, field func(*T) *[]bool) column[T] {
	return list(name, arrow.FixedWidthTypes.Boolean, field,
		func(b array.Builder, v []bool) { b.(*array.BooleanBuilder).AppendValues(v, nil) },
		func(a arrow.Array, beg, end int) ([]bool, error) {
			bits, out := a.(*array.Boolean), make([]bool, end-beg)
			for i := range out {
				out[i] = bits.Value(beg + i)
			}
			return out, nil
		})
}

// texts is a list of UTF-8 strings, see text.
func texts[T any](name string, field func(*T) *[]string) column[T] {
	return list(name, arrow.BinaryTypes.String, field,
		func(b array.Builder, v []string) {
			for _, s := range v {
				b.(*array.StringBuilder).Append(validUTF8(s))
			}
		},
		func(a arrow.Array, beg, end int) ([]string, error) {
			strs, out := a.(*array.String), make([]string, end-beg)
			for i := range out {
				v := strs.Value(beg + i)
				if !utf8.ValidString(v) {
					return nil, corrupt("column %s, element %d is not UTF-8", name, beg+i)
				}
				out[i] = strings.Clone(v)
			}
			return out, nil
		})
}

// structs is a list of structs.
func structs[T, U any](name string, field func(*T) *[]U, columns []column[U]) column[T] {
	return list(name, arrow.StructOf(fields(columns)...), field,
		func(b array.Builder, v []U) {
			writeStruct(b.(*array.StructBuilder), columns, len(v), func(i int) *U { return &v[i] })
		},
		func(a arrow.Array, beg, end int) ([]U, error) {
			out := make([]U, end-beg)
			slice := array.NewSlice(a, int64(beg), int64(end)).(*array.Struct)
			defer slice.Release()
			return out, readStruct(slice, columns, func(i int) *U { return &out[i] })
		})
}
