package schemas

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// record returns the columns that write appends as an Arrow record over their own
// memory.
func (e *encoder) record(schema *arrow.Schema, rows int, write func(*body)) arrow.Record {
	// Who makes a record after the other makes them of about one size; an eighth more
	// spares most of them to grow, which copies.
	last := e.recordBytes.Load()
	b := &body{out: make([]byte, 0, last+last/8)}
	write(b)
	e.recordBytes.Store(int64(len(b.out)))
	left := b.batch()
	columns := make([]arrow.Array, schema.NumFields())
	for i, field := range schema.Fields() {
		data := left.data(field.Type)
		columns[i] = array.MakeFromData(data)
		data.Release()
	}
	if len(left.nodes)+len(left.buffers) != 0 {
		panic(fmt.Sprintf("schemas: columns wrote %d nodes and %d buffers that the schema does not have", len(left.nodes), len(left.buffers)))
	}
	record := array.NewRecord(schema, columns, int64(rows))
	for _, column := range columns {
		column.Release()
	}
	return record
}

// batch is what was written as it would be read.
func (b *body) batch() *batch {
	out := &batch{nodes: b.nodes}
	for _, s := range b.buffers {
		end := b.start + s.offset + s.length
		out.buffers = append(out.buffers, b.out[b.start+s.offset:end:end])
	}
	return out
}

// data takes the nodes and buffers of a column of a type, the inverse of add.
func (b *batch) data(typ arrow.DataType) arrow.ArrayData {
	n := b.nodes[0]
	b.nodes = b.nodes[1:]
	buffers := make([]*memory.Buffer, len(typ.Layout().Buffers))
	for i := range buffers {
		if i > 0 { // the first is of validity, which stays nil: nothing is null
			buffers[i] = memory.NewBufferBytes(b.buffers[i])
		}
	}
	b.buffers = b.buffers[len(buffers):]
	var children []arrow.ArrayData
	if t, ok := typ.(arrow.NestedType); ok {
		for _, field := range t.Fields() {
			children = append(children, b.data(field.Type))
		}
	}
	data := array.NewData(typ, n, buffers, children, 0, 0)
	for _, child := range children {
		child.Release()
	}
	return data
}
