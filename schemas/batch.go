package schemas

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// openBatch turns an Arrow IPC stream of exactly one batch into its columns, or
// into an error marked ErrCorrupt. The arrays share the memory of stream.
//
// arrow's own reader allocates what a message asks for and indexes where it
// points, so it is never given bytes from outside. Here the schema message must
// be the very bytes the encoder writes, the batch message is read with bounds,
// and an array is only made of buffers known to hold it:
//
//   - every buffer lies in the body, behind the one before it, so that no byte
//     is read as two columns and memory is bounded by the size of the frame;
//   - every column has the length its parent has, or the last offset of its
//     list, and its buffers hold that many elements;
//   - offsets begin at 0, never fall, and end at the number of elements;
//   - there are no nulls, no compression and no dictionaries.
func openBatch(schema *arrow.Schema, schemaMessage, stream []byte, rows int) ([]arrow.Array, error) {
	rest, ok := bytes.CutPrefix(stream, schemaMessage)
	if !ok {
		return nil, corrupt("the schema message is not the one of %s", schema.Metadata())
	}
	rest, ok = bytes.CutSuffix(rest, endOfStream)
	if !ok {
		return nil, corrupt("the Arrow stream does not end with its end marker")
	}
	meta, body, err := splitMessage(rest)
	if err != nil {
		return nil, err
	}
	b, err := readBatchMessage(meta, body, rows)
	if err != nil {
		return nil, err
	}
	fields := schema.Fields()
	columns := make([]arrow.Array, len(fields))
	for i, f := range fields {
		data, err := b.take(f.Type, rows)
		if err != nil {
			return nil, corrupt("column %s: %v", f.Name, err)
		}
		columns[i] = array.MakeFromData(data)
	}
	if len(b.nodes) != 0 || len(b.buffers) != 0 {
		return nil, corrupt("%d nodes and %d buffers belong to no column", len(b.nodes), len(b.buffers))
	}
	return columns, nil
}

// endOfStream is the end marker of an IPC stream: a continuation and length 0.
var endOfStream = []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}

// splitMessage splits an encapsulated message: continuation 0xffffffff, length
// of the metadata (u32, padded to 8), metadata, body.
func splitMessage(b []byte) (meta, body []byte, err error) {
	if len(b) < 8 || binary.LittleEndian.Uint32(b) != 0xffffffff {
		return nil, nil, corrupt("no record batch message")
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if uint64(n) > uint64(len(b)-8) || n%8 != 0 {
		return nil, nil, corrupt("batch metadata of %d bytes in a message of %d", n, len(b))
	}
	return b[8 : 8+n], b[8+n:], nil
}

type span struct{ offset, length int }

// batch are the nodes and buffers of a batch that no column has taken yet.
type batch struct {
	body    []byte
	nodes   []int // lengths
	buffers []span
}

// Values of Arrow's Message.fbs.
const (
	metadataV5        = 4
	headerRecordBatch = 3
)

func readBatchMessage(meta, body []byte, rows int) (*batch, error) {
	f := &flat{b: meta}
	message := f.follow(0)
	version, ok0 := f.field(message, 0)
	kind, ok1 := f.field(message, 1)
	header, ok2 := f.field(message, 2)
	bodyLength, ok3 := f.field(message, 3)
	if !ok0 || !ok1 || !ok2 || !ok3 || f.u16(version) != metadataV5 || f.u8(kind) != headerRecordBatch {
		return nil, corrupt("the message behind the schema is not a record batch")
	}
	if n := f.i64(bodyLength); n != int64(len(body)) {
		return nil, corrupt("the batch tells a body of %d bytes and has %d", n, len(body))
	}
	table := f.follow(header)
	length, ok0 := f.field(table, 0)
	nodesAt, ok1 := f.field(table, 1)
	buffersAt, ok2 := f.field(table, 2)
	if !ok0 || !ok1 || !ok2 || f.i64(length) != int64(rows) {
		return nil, corrupt("the batch does not hold the %d rows of the frame", rows)
	}
	if _, compressed := f.field(table, 3); compressed {
		return nil, corrupt("the batch is compressed")
	}
	node, nodes := f.vector(nodesAt, 16)
	buffer, buffers := f.vector(buffersAt, 16)
	b := &batch{body: body, nodes: make([]int, nodes), buffers: make([]span, buffers)}
	for i := range b.nodes {
		n, nulls := f.i64(node+16*i), f.i64(node+16*i+8)
		// An element takes a bit at least.
		if n < 0 || n > 8*int64(len(body)) || nulls != 0 {
			return nil, corrupt("node %d has %d elements and %d nulls in a body of %d bytes", i, n, nulls, len(body))
		}
		b.nodes[i] = int(n)
	}
	end := int64(0)
	for i := range b.buffers {
		offset, n := f.i64(buffer+16*i), f.i64(buffer+16*i+8)
		if offset < end || n < 0 || offset > int64(len(body)) || n > int64(len(body))-offset || offset%8 != 0 {
			return nil, corrupt("buffer %d is [%d, +%d) in a body of %d bytes", i, offset, n, len(body))
		}
		b.buffers[i] = span{int(offset), int(n)}
		end = offset + n
	}
	if f.bad {
		return nil, corrupt("the batch metadata points outside of itself")
	}
	return b, nil
}

// take returns the next column, which must have type t and n elements.
func (b *batch) take(t arrow.DataType, n int) (arrow.ArrayData, error) {
	if len(b.nodes) == 0 {
		return nil, corrupt("has no node")
	}
	if b.nodes[0] != n {
		return nil, corrupt("has %d elements where %d belong", b.nodes[0], n)
	}
	b.nodes = b.nodes[1:]
	if validity, err := b.buffer(0); err != nil {
		return nil, err
	} else if validity.Len() != 0 {
		return nil, corrupt("has a validity bitmap")
	}
	switch t := t.(type) {
	case *arrow.StructType:
		children := make([]arrow.ArrayData, len(t.Fields()))
		for i, f := range t.Fields() {
			child, err := b.take(f.Type, n)
			if err != nil {
				return nil, corrupt("%s: %v", f.Name, err)
			}
			children[i] = child
		}
		return array.NewData(t, n, []*memory.Buffer{nil}, children, 0, 0), nil
	case *arrow.ListType:
		offsets, last, err := b.offsets(n)
		if err != nil {
			return nil, err
		}
		child, err := b.take(t.Elem(), last)
		if err != nil {
			return nil, err
		}
		return array.NewData(t, n, []*memory.Buffer{nil, offsets}, []arrow.ArrayData{child}, 0, 0), nil
	case arrow.BinaryDataType:
		offsets, last, err := b.offsets(n)
		if err != nil {
			return nil, err
		}
		values, err := b.buffer(last)
		if err != nil {
			return nil, err
		}
		return array.NewData(t, n, []*memory.Buffer{nil, offsets, values}, nil, 0, 0), nil
	case arrow.FixedWidthDataType:
		values, err := b.buffer((n*t.BitWidth() + 7) / 8)
		if err != nil {
			return nil, err
		}
		return array.NewData(t, n, []*memory.Buffer{nil, values}, nil, 0, 0), nil
	}
	return nil, corrupt("type %s is not used by any schema", t)
}

// buffer returns the next buffer, which must hold at least n bytes.
func (b *batch) buffer(n int) (*memory.Buffer, error) {
	if len(b.buffers) == 0 {
		return nil, corrupt("has no buffer")
	}
	s := b.buffers[0]
	b.buffers = b.buffers[1:]
	if s.length < n {
		return nil, corrupt("has a buffer of %d bytes where %d are needed", s.length, n)
	}
	return memory.NewBufferBytes(b.body[s.offset : s.offset+s.length]), nil
}

// offsets returns the next buffer as the offsets of n elements, and the last of
// them. An encoder may leave the offsets of no elements out.
func (b *batch) offsets(n int) (buffer *memory.Buffer, last int, err error) {
	if n == 0 {
		buffer, err = b.buffer(0)
		return buffer, 0, err
	}
	buffer, err = b.buffer(4 * (n + 1))
	if err != nil {
		return nil, 0, err
	}
	values := arrow.Int32Traits.CastFromBytes(buffer.Bytes())[:n+1]
	if values[0] != 0 {
		return nil, 0, corrupt("has a first offset of %d", values[0])
	}
	for i := range n {
		if values[i+1] < values[i] {
			return nil, 0, corrupt("has offset %d behind offset %d", values[i+1], values[i])
		}
	}
	return buffer, int(values[n]), nil
}
