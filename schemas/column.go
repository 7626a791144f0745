package schemas

import (
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// column maps one field of a row type T to one Arrow column. No column is
// nullable: the zero value of a Go field is a value.
type column[T any] struct {
	name string
	typ  arrow.DataType
	// write appends the field of the n rows that at returns to b.
	write func(b array.Builder, n int, at func(int) *T)
	// read sets the field of the row at(i) from element i, for every element.
	// What it sets shares no memory with a.
	read func(a arrow.Array, at func(int) *T) error
}

func fields[T any](columns []column[T]) []arrow.Field {
	out := make([]arrow.Field, len(columns))
	for i, c := range columns {
		out[i] = arrow.Field{Name: c.name, Type: c.typ}
	}
	return out
}

// The number types of the schemas.
type number interface {
	int32 | int64 | float32 | float64
}

// scalar is a column of numbers. Builder and array types of arrow differ in
// name only; their methods are found through interfaces.
func scalar[T any, V number](name string, typ arrow.DataType, field func(*T) *V) column[T] {
	return column[T]{
		name: name, typ: typ,
		write: func(b array.Builder, n int, at func(int) *T) {
			numbers := b.(interface{ Append(V) })
			for i := range n {
				numbers.Append(*field(at(i)))
			}
		},
		read: func(a arrow.Array, at func(int) *T) error {
			numbers := a.(interface{ Value(int) V })
			for i := range a.Len() {
				*field(at(i)) = numbers.Value(i)
			}
			return nil
		},
	}
}

func i32[T any](name string, field func(*T) *int32) column[T] {
	return scalar(name, arrow.PrimitiveTypes.Int32, field)
}

func i64[T any](name string, field func(*T) *int64) column[T] {
	return scalar(name, arrow.PrimitiveTypes.Int64, field)
}

func f32[T any](name string, field func(*T) *float32) column[T] {
	return scalar(name, arrow.PrimitiveTypes.Float32, field)
}

func f64[T any](name string, field func(*T) *float64) column[T] {
	return scalar(name, arrow.PrimitiveTypes.Float64, field)
}

func boolean[T any](name string, field func(*T) *bool) column[T] {
	return column[T]{
		name: name, typ: arrow.FixedWidthTypes.Boolean,
		write: func(b array.Builder, n int, at func(int) *T) {
			bits := b.(*array.BooleanBuilder)
			for i := range n {
				bits.Append(*field(at(i)))
			}
		},
		read: func(a arrow.Array, at func(int) *T) error {
			bits := a.(*array.Boolean)
			for i := range a.Len() {
				*field(at(i)) = bits.Value(i)
			}
			return nil
		},
	}
}

// text is a column of UTF-8. What is not UTF-8 is written with U+FFFD in place
// of every invalid run, because the column promises UTF-8 to every reader; use
// blob where bytes matter, and Validate where an id does.
func text[T any, S ~string](name string, field func(*T) *S) column[T] {
	return column[T]{
		name: name, typ: arrow.BinaryTypes.String,
		write: func(b array.Builder, n int, at func(int) *T) {
			strs := b.(*array.StringBuilder)
			for i := range n {
				strs.Append(validUTF8(string(*field(at(i)))))
			}
		},
		read: func(a arrow.Array, at func(int) *T) error {
			strs := a.(*array.String)
			for i := range a.Len() {
				v := strs.Value(i)
				if !utf8.ValidString(v) {
					return corrupt("column %s, element %d is not UTF-8", name, i)
				}
				*field(at(i)) = S(strings.Clone(v))
			}
			return nil
		},
	}
}

func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}

// blob is a column of bytes, kept as they are.
func blob[T any, B ~string | ~[]byte](name string, field func(*T) *B) column[T] {
	return column[T]{
		name: name, typ: arrow.BinaryTypes.Binary,
		write: func(b array.Builder, n int, at func(int) *T) {
			blobs := b.(*array.BinaryBuilder)
			for i := range n {
				blobs.Append([]byte(*field(at(i))))
			}
		},
		read: func(a arrow.Array, at func(int) *T) error {
			blobs := a.(*array.Binary)
			for i := range a.Len() {
				*field(at(i)) = B(string(blobs.Value(i)))
			}
			return nil
		},
	}
}

// nested is a struct column: the columns of U inside a row of T.
func nested[T, U any](name string, field func(*T) *U, columns []column[U]) column[T] {
	return column[T]{
		name: name, typ: arrow.StructOf(fields(columns)...),
		write: func(b array.Builder, n int, at func(int) *T) {
			writeStruct(b.(*array.StructBuilder), columns, n, func(i int) *U { return field(at(i)) })
		},
		read: func(a arrow.Array, at func(int) *T) error {
			return readStruct(a.(*array.Struct), columns, func(i int) *U { return field(at(i)) })
		},
	}
}

func writeStruct[U any](b *array.StructBuilder, columns []column[U], n int, at func(int) *U) {
	for range n {
		b.Append(true)
	}
	for k, c := range columns {
		c.write(b.FieldBuilder(k), n, at)
	}
}

func readStruct[U any](a *array.Struct, columns []column[U], at func(int) *U) error {
	for k, c := range columns {
		if err := c.read(a.Field(k), at); err != nil {
			return err
		}
	}
	return nil
}
