package schemas

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
)

// column maps one field of a row type T to one Arrow column. No column is
// nullable: the zero value of a Go field is a value.
type column[T any] struct {
	name string
	typ  arrow.DataType
	// least is how many bytes an element takes at least.
	least int
	// write appends the field of the n rows that at returns.
	write func(b *body, n int, at func(int) *T)
	// read takes a column of n elements and sets the fields of the n rows. What it
	// sets shares no memory with the batch.
	read func(b *batch, n int, at func(int) *T) error
}

func fields[T any](columns []column[T]) []arrow.Field {
	out := make([]arrow.Field, len(columns))
	for i, c := range columns {
		out[i] = arrow.Field{Name: c.name, Type: c.typ}
	}
	return out
}

// least is how many bytes an element of all columns takes at least.
func least[T any](columns []column[T]) int {
	n := 0
	for _, c := range columns {
		n += c.least
	}
	return n
}

func writeColumns[T any](b *body, columns []column[T], n int, at func(int) *T) {
	for _, c := range columns {
		c.write(b, n, at)
	}
}

func readColumns[T any](b *batch, columns []column[T], n int, at func(int) *T) error {
	for _, c := range columns {
		if err := c.read(b, n, at); err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	return nil
}

// scalar is a column of numbers of the given size in bytes.
func scalar[T, V any](name string, typ arrow.FixedWidthDataType, field func(*T) *V, put func([]byte, V) []byte, get func([]byte) V) column[T] {
	size := typ.Bytes()
	return column[T]{
		name: name, typ: typ, least: size,
		write: func(b *body, n int, at func(int) *T) {
			b.node(n)
			b.buffer(func(out []byte) []byte {
				for i := range n {
					out = put(out, *field(at(i)))
				}
				return out
			})
		},
		read: func(b *batch, n int, at func(int) *T) error {
			if err := b.node(n); err != nil {
				return err
			}
			values, err := b.buffer(n * size)
			if err != nil {
				return err
			}
			for i := range n {
				*field(at(i)) = get(values[i*size:])
			}
			return nil
		},
	}
}

var little = binary.LittleEndian

func i32[T any](name string, field func(*T) *int32) column[T] {
	return scalar(name, arrow.PrimitiveTypes.Int32.(arrow.FixedWidthDataType), field,
		func(out []byte, v int32) []byte { return little.AppendUint32(out, uint32(v)) },
		func(b []byte) int32 { return int32(little.Uint32(b)) })
}

func i64[T any](name string, field func(*T) *int64) column[T] {
	return scalar(name, arrow.PrimitiveTypes.Int64.(arrow.FixedWidthDataType), field,
		func(out []byte, v int64) []byte { return little.AppendUint64(out, uint64(v)) },
		func(b []byte) int64 { return int64(little.Uint64(b)) })
}

func f32[T any](name string, field func(*T) *float32) column[T] {
	return scalar(name, arrow.PrimitiveTypes.Float32.(arrow.FixedWidthDataType), field,
		func(out []byte, v float32) []byte { return little.AppendUint32(out, math.Float32bits(v)) },
		func(b []byte) float32 { return math.Float32frombits(little.Uint32(b)) })
}

func f64[T any](name string, field func(*T) *float64) column[T] {
	return scalar(name, arrow.PrimitiveTypes.Float64.(arrow.FixedWidthDataType), field,
		func(out []byte, v float64) []byte { return little.AppendUint64(out, math.Float64bits(v)) },
		func(b []byte) float64 { return math.Float64frombits(little.Uint64(b)) })
}

func boolean[T any](name string, field func(*T) *bool) column[T] {
	return column[T]{
		name: name, typ: arrow.FixedWidthTypes.Boolean,
		write: func(b *body, n int, at func(int) *T) {
			values := make([]bool, n)
			for i := range n {
				values[i] = *field(at(i))
			}
			b.bits(values)
		},
		read: func(b *batch, n int, at func(int) *T) error {
			bits, err := b.bits(n)
			if err != nil {
				return err
			}
			for i := range n {
				*field(at(i)) = eights[bits[i/8]][i%8]
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
		name: name, typ: arrow.BinaryTypes.String, least: offsetSize,
		write: func(b *body, n int, at func(int) *T) {
			b.texts(n, func(i int) string { return string(*field(at(i))) })
		},
		read: func(b *batch, n int, at func(int) *T) error {
			all, offsets, err := b.texts(n)
			if err != nil {
				return err
			}
			for i := range n {
				*field(at(i)) = S(all[offsets[i]:offsets[i+1]])
			}
			return nil
		},
	}
}

// texts is a column of UTF-8.
func (b *body) texts(n int, at func(int) string) {
	valid := at
	for i := range n {
		if !utf8.ValidString(at(i)) {
			valid = func(i int) string { return strings.ToValidUTF8(at(i), string(utf8.RuneError)) }
			break
		}
	}
	b.strings(n, valid)
}

// strings is a column of byte strings.
func (b *body) strings(n int, at func(int) string) {
	b.node(n)
	b.offsets(n, func(i int) int { return len(at(i)) })
	b.buffer(func(out []byte) []byte {
		for i := range n {
			out = append(out, at(i)...)
		}
		return out
	})
}

// texts takes a column of n strings of UTF-8, see strings.
func (b *batch) texts(n int) (all string, offsets []int32, err error) {
	all, offsets, err = b.strings(n)
	if err != nil || utf8.ValidString(all) && startRunes(all, offsets) {
		return all, offsets, err
	}
	bad := 0 // if all strings were valid, so were their concatenation
	for utf8.ValidString(all[offsets[bad]:offsets[bad+1]]) {
		bad++
	}
	return "", nil, corrupt("element %d is not UTF-8", bad)
}

// startRunes says that no offset is within a rune of valid UTF-8.
func startRunes(all string, offsets []int32) bool {
	for _, o := range offsets {
		if int(o) < len(all) && !utf8.RuneStart(all[o]) {
			return false
		}
	}
	return true
}

// blob is a column of bytes, kept as they are.
func blob[T any, B ~string | ~[]byte](name string, field func(*T) *B) column[T] {
	return column[T]{
		name: name, typ: arrow.BinaryTypes.Binary, least: offsetSize,
		write: func(b *body, n int, at func(int) *T) {
			b.node(n)
			b.offsets(n, func(i int) int { return len(*field(at(i))) })
			b.buffer(func(out []byte) []byte {
				for i := range n {
					out = append(out, *field(at(i))...)
				}
				return out
			})
		},
		read: func(b *batch, n int, at func(int) *T) error {
			all, offsets, err := b.strings(n)
			if err != nil {
				return err
			}
			for i := range n {
				*field(at(i)) = B(all[offsets[i]:offsets[i+1]])
			}
			return nil
		},
	}
}

// nested is a struct column: the columns of U inside a row of T.
func nested[T, U any](name string, field func(*T) *U, columns []column[U]) column[T] {
	return column[T]{
		name: name, typ: arrow.StructOf(fields(columns)...), least: least(columns),
		write: func(b *body, n int, at func(int) *T) {
			b.node(n)
			writeColumns(b, columns, n, func(i int) *U { return field(at(i)) })
		},
		read: func(b *batch, n int, at func(int) *T) error {
			if err := b.node(n); err != nil {
				return err
			}
			return readColumns(b, columns, n, func(i int) *U { return field(at(i)) })
		},
	}
}
