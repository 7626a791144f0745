package schemas

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// encoder writes the batches of one schema. Their metadata differs in numbers
// only, so it is Arrow's own of a batch of one row, with the numbers replaced.
type encoder struct {
	// prefix is what every stream begins with: the schema message, and the message
	// of a batch up to its body.
	prefix []byte
	schema int // length of the schema message
	// Positions in prefix, of int64s: the rows, the length of the body, and the first
	// node and buffer, which are pairs.
	rows, length, node, buffer int
	nodes, buffers             int
	free                       sync.Pool    // of *body
	recordBytes                atomic.Int64 // of the last record
}

// newEncoder asks Arrow how it writes a schema.
func newEncoder(schema *arrow.Schema) (*encoder, error) {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	for _, field := range builder.Fields() {
		field.AppendEmptyValue()
	}
	row := builder.NewRecord()
	defer row.Release()
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	if err := w.Write(row); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	all := stream.Bytes()
	_, batch, err := splitMessage(all) // a schema message has no body
	if err != nil {
		return nil, err
	}
	meta, _, err := splitMessage(batch)
	if err != nil {
		return nil, err
	}
	e := &encoder{schema: len(all) - len(batch)}
	start := e.schema + 8
	e.prefix = all[:start+len(meta)]
	m, err := readBatchMeta(meta)
	if err != nil {
		return nil, err
	}
	e.rows, e.length, e.node, e.buffer = start+m.rowsAt, start+m.lengthAt, start+m.node, start+m.buffer
	e.nodes, e.buffers = m.nodes, m.buffers
	return e, nil
}

// schemaMessage is the message that a stream begins with.
func (e *encoder) schemaMessage() []byte { return e.prefix[:e.schema] }

// encode returns room bytes, which are 0, and behind them the stream of a batch
// whose columns write appends.
func (e *encoder) encode(room, rows int, write func(*body)) ([]byte, error) {
	b, ok := e.free.Get().(*body)
	if !ok {
		b = &body{}
	}
	defer e.free.Put(b)
	b.out = append(append(b.out[:0], make([]byte, room)...), e.prefix...)
	b.start, b.nodes, b.buffers = len(b.out), b.nodes[:0], b.buffers[:0]
	write(b)
	if len(b.nodes) != e.nodes || len(b.buffers) != e.buffers {
		return nil, fmt.Errorf("columns wrote %d nodes and %d buffers, the schema has %d and %d", len(b.nodes), len(b.buffers), e.nodes, e.buffers)
	}
	head := b.out[room:]
	put := func(at, v int) { little.PutUint64(head[at:], uint64(v)) }
	put(e.rows, rows)
	put(e.length, len(b.out)-b.start)
	for i, n := range b.nodes {
		put(e.node+16*i, n)
		put(e.node+16*i+8, 0) // nulls
	}
	for i, s := range b.buffers {
		put(e.buffer+16*i, s.offset)
		put(e.buffer+16*i+8, s.length)
	}
	b.out = append(b.out, endOfStream...)
	return bytes.Clone(b.out), nil
}
