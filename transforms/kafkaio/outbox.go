package kafkaio

import (
	"context"
	"errors"
	"sync"
	"time"
)

// outboxBytes is how much one record's outputs may wait for the broker before
// emit blocks.
const outboxBytes = 16 << 20

var errEmitLate = errors.New("emit was called after Work had returned")

// outbox takes the outputs of one Work call and writes them while Work goes on.
//
// At most one batch is on its way at a time, and what is emitted meanwhile makes
// the next one, so outputs stay in order and a burst costs few requests. The
// writing goroutine exists only while there is something to write.
type outbox struct {
	write  func(context.Context, []Output) error
	ctx    context.Context
	late   func(error) // told of an emit after close, which close can no longer return
	writer sync.WaitGroup
	count  int64 // outputs written; read after close

	mu      sync.Mutex // guards the fields below
	room    sync.Cond  // signalled when waiting shrinks or err is set
	waiting []Output
	bytes   int // of waiting and of the batch on its way
	busy    bool
	closed  bool
	err     error
}

func newOutbox(ctx context.Context, c broker, budget time.Duration, late func(error)) *outbox {
	o := &outbox{ctx: ctx, late: late, write: func(ctx context.Context, outputs []Output) error {
		return c.produce(ctx, budget, outputs)
	}}
	o.room.L = &o.mu
	return o
}

// emit queues one output. After a failed write it drops it, because the record
// will be read again.
func (o *outbox) emit(out Output) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		o.late(errEmitLate)
		return
	}
	for o.bytes > outboxBytes && o.err == nil {
		o.room.Wait()
	}
	if o.err != nil {
		return
	}
	o.waiting = append(o.waiting, out)
	o.bytes += len(out.Key) + len(out.Value)
	if !o.busy {
		o.busy = true
		o.writer.Go(o.drain)
	}
}

// drain writes until nothing waits.
func (o *outbox) drain() {
	for {
		o.mu.Lock()
		outputs := o.waiting
		o.waiting = nil
		if len(outputs) == 0 || o.err != nil {
			o.busy = false
			o.mu.Unlock()
			return
		}
		o.mu.Unlock()

		err := o.write(o.ctx, outputs)

		o.mu.Lock()
		for _, out := range outputs {
			o.bytes -= len(out.Key) + len(out.Value)
		}
		if err != nil {
			o.err = err
		} else {
			o.count += int64(len(outputs))
		}
		o.room.Broadcast()
		o.mu.Unlock()
	}
}

// close waits until everything emitted is durable.
//
// emit cannot race with the Wait below: closed is set under the lock first, and
// a goroutine that emitted before has raised the group's counter under it.
func (o *outbox) close() error {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.writer.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
