package schemas

import "github.com/apache/arrow/go/v15/arrow"

// list builds a list column from how the elements of n lists are appended, and
// how a column of elements is taken: read returns what gives the elements beg to
// end, which share no memory with the batch. An empty list reads back as nil.
func list[T, E any](
	name string, element arrow.DataType, field func(*T) *[]E,
	write func(b *body, elements, n int, at func(int) []E),
	read func(b *batch, elements int) (func(beg, end int32) []E, error),
) column[T] {
	return column[T]{
		name: name, typ: arrow.ListOfNonNullable(element), least: offsetSize,
		write: func(b *body, n int, at func(int) *T) {
			b.node(n)
			lists := func(i int) []E { return *field(at(i)) }
			elements := b.offsets(n, func(i int) int { return len(lists(i)) })
			write(b, elements, n, lists)
		},
		read: func(b *batch, n int, at func(int) *T) error {
			if err := b.node(n); err != nil {
				return err
			}
			offsets, elements, err := b.offsets(n)
			if err != nil {
				return err
			}
			get, err := read(b, elements)
			if err != nil {
				return err
			}
			for i := range n {
				if beg, end := offsets[i], offsets[i+1]; beg < end {
					*field(at(i)) = get(beg, end)
				} else {
					*field(at(i)) = nil
				}
			}
			return nil
		},
	}
}

// numbers is a list of numbers, which are copied in bulk.
func numbers[T, E any](name string, element arrow.FixedWidthDataType, field func(*T) *[]E, asBytes func([]E) []byte, fromBytes func([]byte) []E) column[T] {
	return list(name, element, field,
		func(b *body, elements, n int, at func(int) []E) {
			b.node(elements)
			b.buffer(func(out []byte) []byte {
				for i := range n {
					out = append(out, asBytes(at(i))...)
				}
				return out
			})
		},
		func(b *batch, elements int) (func(beg, end int32) []E, error) {
			if err := b.node(elements); err != nil {
				return nil, err
			}
			buffer, err := b.buffer(elements * element.Bytes())
			if err != nil {
				return nil, err
			}
			values := fromBytes(buffer)
			return func(beg, end int32) []E {
				out := make([]E, end-beg)
				copy(out, values[beg:end])
				return out
			}, nil
		})
}

// i32s, f32s and bools are the token columns.
func i32s[T any](name string, field func(*T) *[]int32) column[T] {
	return numbers(name, arrow.PrimitiveTypes.Int32.(arrow.FixedWidthDataType), field,
		arrow.Int32Traits.CastToBytes, arrow.Int32Traits.CastFromBytes)
}

func f32s[T any](name string, field func(*T) *[]float32) column[T] {
	return numbers(name, arrow.PrimitiveTypes.Float32.(arrow.FixedWidthDataType), field,
		arrow.Float32Traits.CastToBytes, arrow.Float32Traits.CastFromBytes)
}

func bools[T any](name string, field func(*T) *[]bool) column[T] {
	return list(name, arrow.FixedWidthTypes.Boolean, field,
		func(b *body, elements, n int, at func(int) []bool) {
			b.bits(flattened(elements, n, at))
		},
		func(b *batch, elements int) (func(beg, end int32) []bool, error) {
			bits, err := b.bits(elements)
			return func(beg, end int32) []bool {
				out := make([]bool, end-beg)
				readBits(out, bits, int(beg))
				return out
			}, err
		})
}

// texts is a list of UTF-8 strings, see text.
func texts[T any](name string, field func(*T) *[]string) column[T] {
	return list(name, arrow.BinaryTypes.String, field,
		func(b *body, elements, n int, at func(int) []string) {
			all := flattened(elements, n, at)
			b.texts(elements, func(i int) string { return all[i] })
		},
		func(b *batch, elements int) (func(beg, end int32) []string, error) {
			all, offsets, err := b.texts(elements)
			return func(beg, end int32) []string {
				out := make([]string, end-beg)
				for i := range out {
					at := int(beg) + i
					out[i] = all[offsets[at]:offsets[at+1]]
				}
				return out
			}, err
		})
}

// structs is a list of structs.
func structs[T, U any](name string, field func(*T) *[]U, columns []column[U]) column[T] {
	return list(name, arrow.StructOf(fields(columns)...), field,
		func(b *body, elements, n int, at func(int) []U) {
			rows := make([]*U, 0, elements)
			for i := range n {
				of := at(i)
				for k := range of {
					rows = append(rows, &of[k])
				}
			}
			b.node(elements)
			writeColumns(b, columns, elements, func(i int) *U { return rows[i] })
		},
		func(b *batch, elements int) (func(beg, end int32) []U, error) {
			if err := b.node(elements); err != nil {
				return nil, err
			}
			if err := b.hold(elements, least(columns)); err != nil {
				return nil, err
			}
			all := make([]U, elements)
			err := readColumns(b, columns, elements, func(i int) *U { return &all[i] })
			return func(beg, end int32) []U { return all[beg:end:end] }, err
		})
}

// flattened is the elements of n lists in a row.
func flattened[E any](elements, n int, at func(int) []E) []E {
	if n == 1 {
		return at(0)
	}
	all := make([]E, 0, elements)
	for i := range n {
		all = append(all, at(i)...)
	}
	return all
}
