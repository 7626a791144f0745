package schemas

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow/go/v15/arrow"
)

// openBatch turns an Arrow IPC stream of exactly one batch into its nodes and
// buffers, for the columns to take, or into an error marked ErrCorrupt. The
// buffers share the memory of stream.
//
// Arrow's own reader allocates what a message asks for and indexes where it
// points, so it is never given bytes from outside. Here the schema message must
// be the very bytes the encoder writes, the batch message is read with bounds,
// and a column takes only buffers known to hold it:
//
//   - every buffer lies in the body, behind the one before it, so that no byte
//     is read as two columns and memory is bounded by the size of the frame;
//   - every column has the length its parent has, or the last offset of its
//     list, and its buffers hold that many elements;
//   - offsets begin at 0, never fall, and end at the number of elements;
//   - there are no nulls, no compression and no dictionaries.
func openBatch(schemaMessage, stream []byte, rows int) (*batch, error) {
	rest, ok := bytes.CutPrefix(stream, schemaMessage)
	if !ok {
		return nil, corrupt("the schema message is not the expected one")
	}
	rest, ok = bytes.CutSuffix(rest, endOfStream)
	if !ok {
		return nil, corrupt("the Arrow stream does not end with its end marker")
	}
	meta, body, err := splitMessage(rest)
	if err != nil {
		return nil, err
	}
	return readBatchMessage(meta, body, rows)
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

// batch are the nodes and buffers of a batch that no column has taken yet.
type batch struct {
	nodes   []int // lengths
	buffers [][]byte
}

// Values of Arrow's Message.fbs.
const (
	metadataV5        = 4
	headerRecordBatch = 3
)

// batchMeta says where the numbers of a batch are in the metadata of its message.
type batchMeta struct {
	rowsAt, lengthAt int // of int64s
	node, nodes      int // the first pair, and their number
	buffer, buffers  int
}

func readBatchMeta(meta []byte) (batchMeta, error) {
	f := &flat{b: meta}
	message := f.follow(0)
	version, ok0 := f.field(message, 0)
	kind, ok1 := f.field(message, 1)
	header, ok2 := f.field(message, 2)
	length, ok3 := f.field(message, 3)
	if !ok0 || !ok1 || !ok2 || !ok3 || f.u16(version) != metadataV5 || f.u8(kind) != headerRecordBatch {
		return batchMeta{}, corrupt("the message behind the schema is not a record batch")
	}
	table := f.follow(header)
	rows, ok0 := f.field(table, 0)
	nodesAt, ok1 := f.field(table, 1)
	buffersAt, ok2 := f.field(table, 2)
	if !ok0 || !ok1 || !ok2 {
		return batchMeta{}, corrupt("the record batch lacks its length, nodes or buffers")
	}
	if _, compressed := f.field(table, 3); compressed {
		return batchMeta{}, corrupt("the batch is compressed")
	}
	m := batchMeta{rowsAt: rows, lengthAt: length}
	m.node, m.nodes = f.vector(nodesAt, 16)
	m.buffer, m.buffers = f.vector(buffersAt, 16)
	f.i64(rows)
	f.i64(length)
	if f.bad {
		return batchMeta{}, corrupt("the batch metadata points outside of itself")
	}
	return m, nil
}

func readBatchMessage(meta, body []byte, rows int) (*batch, error) {
	m, err := readBatchMeta(meta)
	if err != nil {
		return nil, err
	}
	at := func(position int) int64 { return int64(binary.LittleEndian.Uint64(meta[position:])) }
	if n := at(m.lengthAt); n != int64(len(body)) {
		return nil, corrupt("the batch tells a body of %d bytes and has %d", n, len(body))
	}
	if n := at(m.rowsAt); n != int64(rows) {
		return nil, corrupt("the batch holds %d rows where the frame tells %d", n, rows)
	}
	b := &batch{nodes: make([]int, m.nodes), buffers: make([][]byte, m.buffers)}
	for i := range b.nodes {
		n, nulls := at(m.node+16*i), at(m.node+16*i+8)
		// An element takes a bit at least.
		if n < 0 || n > 8*int64(len(body)) || nulls != 0 {
			return nil, corrupt("node %d has %d elements and %d nulls in a body of %d bytes", i, n, nulls, len(body))
		}
		b.nodes[i] = int(n)
	}
	end := int64(0)
	for i := range b.buffers {
		offset, n := at(m.buffer+16*i), at(m.buffer+16*i+8)
		if offset < end || n < 0 || offset > int64(len(body)) || n > int64(len(body))-offset || offset%8 != 0 {
			return nil, corrupt("buffer %d is [%d, +%d) in a body of %d bytes", i, offset, n, len(body))
		}
		b.buffers[i] = body[offset : offset+n]
		end = offset + n
	}
	return b, nil
}

// node takes the next column, which must have n elements.
func (b *batch) node(n int) error {
	if len(b.nodes) == 0 {
		return corrupt("has no node")
	}
	if b.nodes[0] != n {
		return corrupt("has %d elements where %d belong", b.nodes[0], n)
	}
	b.nodes = b.nodes[1:]
	validity, err := b.buffer(0)
	if err == nil && len(validity) != 0 {
		err = corrupt("has a validity bitmap")
	}
	return err
}

// hold is an error if the buffers that are left cannot hold n elements of at
// least size bytes: it keeps the memory for rows in proportion to the frame.
func (b *batch) hold(n, size int) error {
	left := 0
	for _, buffer := range b.buffers {
		left += len(buffer)
	}
	if left < n*size {
		return corrupt("%d elements of %d bytes and more do not fit %d bytes", n, size, left)
	}
	return nil
}

// buffer takes the next buffer, which must hold at least n bytes.
func (b *batch) buffer(n int) ([]byte, error) {
	if len(b.buffers) == 0 {
		return nil, corrupt("has no buffer")
	}
	buffer := b.buffers[0]
	b.buffers = b.buffers[1:]
	if len(buffer) < n {
		return nil, corrupt("has a buffer of %d bytes where %d are needed", len(buffer), n)
	}
	return buffer, nil
}

// offsetSize is the bytes of an offset, of which an element of variable length has
// one.
const offsetSize = 4

// offsets takes the next buffer as the offsets of n elements: n+1 of them, or
// none of no elements, and returns the last as well. A writer may leave the
// offsets of no elements out.
func (b *batch) offsets(n int) (offsets []int32, last int, err error) {
	if n == 0 {
		_, err = b.buffer(0)
		return nil, 0, err
	}
	buffer, err := b.buffer(offsetSize * (n + 1))
	if err != nil {
		return nil, 0, err
	}
	offsets = arrow.Int32Traits.CastFromBytes(buffer)[:n+1]
	if offsets[0] != 0 {
		return nil, 0, corrupt("has a first offset of %d", offsets[0])
	}
	for i := range n {
		if offsets[i+1] < offsets[i] {
			return nil, 0, corrupt("has offset %d behind offset %d", offsets[i+1], offsets[i])
		}
	}
	return offsets, int(offsets[n]), nil
}

// bits takes a column of n booleans.
func (b *batch) bits(n int) ([]byte, error) {
	if err := b.node(n); err != nil {
		return nil, err
	}
	return b.buffer((n + 7) / 8)
}

// strings takes a column of n byte strings: string i is all[offsets[i]:offsets[i+1]].
// They share one copy of the bytes.
func (b *batch) strings(n int) (all string, offsets []int32, err error) {
	if err := b.node(n); err != nil {
		return "", nil, err
	}
	offsets, last, err := b.offsets(n)
	if err != nil {
		return "", nil, err
	}
	values, err := b.buffer(last)
	if err != nil {
		return "", nil, err
	}
	return string(values[:last]), offsets, nil
}

// done is an error if a node or a buffer belongs to no column.
func (b *batch) done() error {
	if len(b.nodes) != 0 || len(b.buffers) != 0 {
		return corrupt("%d nodes and %d buffers belong to no column", len(b.nodes), len(b.buffers))
	}
	return nil
}
