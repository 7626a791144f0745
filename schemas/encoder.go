package schemas

import (
	"bytes"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// encoder holds what encoding needs again and again: builders, their memory, and
// an IPC writer that has the schema behind it. Without it a frame of one sample
// spends most of its time in the allocator. It has one user at a time.
type encoder struct {
	builder *array.RecordBuilder
	writer  *ipc.Writer
	out     bytes.Buffer // the frame being written
}

func newEncoder(schema *arrow.Schema) (*encoder, error) {
	mem := &recycler{}
	e := &encoder{builder: array.NewRecordBuilder(mem, schema)}
	e.writer = ipc.NewWriter(&e.out, ipc.WithSchema(schema), ipc.WithAllocator(mem))
	// The schema message leaves with the first record. From here on the writer
	// adds one batch message a record.
	empty := e.builder.NewRecord()
	defer empty.Release()
	if err := e.writer.Write(empty); err != nil {
		return nil, fmt.Errorf("starting an Arrow stream: %w", err)
	}
	return e, nil
}

// recycler is an Arrow allocator that gives freed memory out again, by powers of
// two. It is not safe for concurrent use.
type recycler struct {
	memory.GoAllocator
	free [bits.UintSize][][]byte // free[k] holds slices of capacity 2^k
}

func (r *recycler) Allocate(size int) []byte {
	k := bits.Len(uint(max(size, 1) - 1))
	if n := len(r.free[k]); n > 0 {
		b := r.free[k][n-1][:size]
		r.free[k] = r.free[k][:n-1]
		clear(b[:cap(b)])
		return b
	}
	return r.GoAllocator.Allocate(1 << k)[:size]
}

func (r *recycler) Reallocate(size int, b []byte) []byte {
	if cap(b) >= size {
		return b[:size]
	}
	grown := r.Allocate(size)
	copy(grown, b)
	r.Free(b)
	return grown
}

func (r *recycler) Free(b []byte) {
	if c := cap(b); c > 0 && c&(c-1) == 0 {
		k := bits.Len(uint(c - 1))
		r.free[k] = append(r.free[k], b[:c])
	}
}
