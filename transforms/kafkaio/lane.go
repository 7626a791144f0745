package kafkaio

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"millrace/schemas"
)

// lease is how long a lane lives without being asked for by the runner. On a
// runner that does not call Stop it is what ends the work of a dead job.
const lease = 2 * time.Minute

var errAbandoned = errors.New("the runner has not asked for this partition for " + lease.String())

// stage is one asynchronous stage: the function and the slots its partitions
// share.
type stage struct {
	cfg    AsyncConfig
	job    *job
	broker broker
	work   Work
	slots  *semaphore.Weighted // InFlight, first come first served over partitions
}

// lane is one partition of an asynchronous stage. Three parties meet here:
//
//	reader     follow() on its own goroutine: for each record it waits for room
//	           and for a slot, begins the offset and starts
//	worker     one goroutine a record: runs Work, waits until its outputs are
//	           durable, finishes the offset, leaves it for
//	collector  ProcessElement, some milliseconds at a time: emits the finished
//	           as an ack, claims the position in Beam's tracker, and only then
//	           allows it to be committed
//
// So committed <= claimed by the runner <= outputs durable. If the process dies
// between any two of these, the record is read again.
//
// A straggler at offset 12 leaves 13, 14, ... free to finish and be written; it
// holds back the position only. The reader stops when ClaimLag records lie
// between the position and the newest begun, which bounds what a crash repeats.
type lane struct {
	stage *stage
	at    partition
	book  *book
	// run ends when the job ends or the lease runs out; reading ends earlier when
	// the job drains.
	run     context.Context
	stop    context.CancelCauseFunc
	expire  *time.Timer
	moved   chan struct{} // capacity 1: a record finished or was collected
	workers sync.WaitGroup
	over    chan struct{} // closed when the reader and all workers have returned
	pace    pace

	mu       sync.Mutex // guards the fields below
	finished []schemas.Position
	outputs  int64
	claimed  int64 // what the collector has claimed
	ended    bool  // nothing is begun any more and all workers have returned
	err      error
}

// laneFor returns the running lane of a partition, or starts one at at.Start.
// The runner normally comes back with the position it claimed last; when it
// comes with another (it restored an older state), the lane is started anew.
func (s *stage) laneFor(at partition) (*lane, error) {
	id := partitionKey{group: s.cfg.Group, topic: at.Topic, partition: at.Partition}
	s.job.mu.Lock()
	l := s.job.lanes[id]
	s.job.mu.Unlock()
	if l != nil && l.run.Err() == nil && l.position() == at.Start {
		l.expire.Reset(lease)
		return l, nil
	}
	if err := s.job.failure(); err != nil {
		return nil, err
	}
	if l != nil {
		l.stop(errStopped)
		<-l.over
	}
	if s.job.ctx.Err() != nil {
		return nil, context.Cause(s.job.ctx)
	}
	l = &lane{stage: s, at: at, moved: make(chan struct{}, 1), over: make(chan struct{}), claimed: at.Start}
	l.book = s.job.newBook(s.broker, s.cfg.RetryFor, id, at.Start)
	l.run, l.stop = context.WithCancelCause(s.job.ctx)
	l.expire = time.AfterFunc(lease, func() { l.stop(errAbandoned) })
	s.job.mu.Lock()
	s.job.lanes[id] = l
	s.job.mu.Unlock()
	s.job.routines.Go(l.read)
	return l, nil
}

func (l *lane) position() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.claimed
}

// read is the reader.
func (l *lane) read() {
	defer close(l.over)
	reading, stop := context.WithCancelCause(l.run)
	defer stop(nil)
	go func() {
		select {
		case <-l.stage.job.drain:
			stop(errDrained)
		case <-reading.Done():
		}
	}()
	stats := l.stage.job.stats.of(l.at.Topic, l.at.Partition)
	err := follow(reading, l.stage.broker, l.at, l.stage.cfg.Brokers, l.stage.cfg.RetryFor, stats.progress,
		func(r Record) error { return l.start(reading, r) })
	l.workers.Wait()
	if err == nil && l.at.End != unbounded {
		l.book.skip(l.at.End) // only control records lie between the last record and the end
	}
	l.mu.Lock()
	l.ended = true
	if err != nil && !errors.Is(err, errDrained) {
		l.err = err
	}
	l.mu.Unlock()
	if err != nil && l.run.Err() == nil && !errors.Is(err, errDrained) {
		l.stage.job.fail(err)
	}
}

var errDrained = errors.New("job drained")

// start waits for room in the window and for a slot, and starts a worker.
func (l *lane) start(reading context.Context, r Record) error {
	for !l.room() {
		select {
		case <-l.moved:
		case <-reading.Done():
			return context.Cause(reading)
		}
	}
	if err := l.stage.slots.Acquire(reading, 1); err != nil {
		return context.Cause(reading)
	}
	if err := l.book.begin(r.Source.Offset); err != nil {
		l.stage.slots.Release(1)
		return err
	}
	l.workers.Go(func() {
		defer l.stage.slots.Release(1)
		l.do(r)
	})
	return nil
}

// room says whether another record may be begun: the window is open, and the
// runner is not so far behind that uncollected acks pile up.
func (l *lane) room() bool {
	_, lag := l.book.state()
	l.mu.Lock()
	defer l.mu.Unlock()
	return lag < l.stage.cfg.ClaimLag && len(l.finished) < l.stage.cfg.ClaimLag
}

// wake tells the reader to look for room again.
func (l *lane) wake() {
	select {
	case l.moved <- struct{}{}:
	default: // it has been told and has not looked yet
	}
}

// do is the worker.
func (l *lane) do(r Record) {
	stats := l.stage.job.stats.of(l.at.Topic, l.at.Partition)
	begun := stats.begin(len(r.Value))
	box := newOutbox(l.run, l.stage.broker, l.stage.cfg.RetryFor, func(err error) { l.fail(r, err) })
	err := guarded(l.run, l.stage.work, r, box.emit)
	stats.worked(begun)
	if err == nil {
		err = box.close()
	} else {
		_ = box.close() // the record's own error comes first
	}
	stats.end(box.count)
	switch {
	case l.run.Err() != nil:
		return // stopped or failed: whatever came of it, the next run reads it again
	case err == nil:
		// First the ack, then the position: whoever sees a position sees the acks
		// of everything below it, so no commit overtakes an ack.
		l.mu.Lock()
		l.finished = append(l.finished, r.Source)
		l.outputs += box.count
		l.mu.Unlock()
		err = l.book.finish(r.Source.Offset)
	}
	if err != nil {
		l.fail(r, err)
		return
	}
	l.wake()
}

// fail fails the job because of a record.
func (l *lane) fail(r Record, err error) {
	l.stage.job.fail(fmt.Errorf("%s: %s[%d]@%d: %w", l.stage.cfg.Work, r.Source.Topic, r.Source.Partition, r.Source.Offset, err))
}

// guarded turns a panic of w into an error: on a goroutine of its own it would
// end the process and every other job in it.
func guarded(ctx context.Context, w Work, r Record, emit func(Output)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v (%s)", p, panicked(debug.Stack()))
		}
	}()
	return w(ctx, r, emit)
}

// panicked finds the place of the panic in a stack: the first line of a source
// file after the runtime's own.
func panicked(stack []byte) string {
	_, after, _ := strings.Cut(string(stack), "panic(")
	lines := strings.Split(after, "\n")
	for _, line := range lines[min(2, len(lines)):] {
		if file := strings.TrimSpace(line); strings.Contains(file, ".go:") && !strings.Contains(file, "/runtime/") {
			file, _, _ = strings.Cut(file, " +0x")
			return file
		}
	}
	return "place unknown"
}

// collect takes what has finished since the last call. position is what may be
// claimed; done says that nothing will ever come any more.
func (l *lane) collect() (ack Ack, position int64, done bool, err error) {
	if err := l.stage.job.failure(); err != nil {
		return Ack{}, 0, false, err
	}
	position, _ = l.book.state() // before the acks are taken: see do
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return Ack{}, 0, false, l.err
	}
	if l.ended {
		position, _ = l.book.state() // all workers have returned: this is final
	}
	ack = Ack{Sources: l.finished, Outputs: l.outputs}
	l.finished, l.outputs = nil, 0
	l.wake()
	return ack, position, l.ended, nil
}

// claimedUpTo tells the lane that the runner's tracker has everything below
// position, so that it may be committed.
func (l *lane) claimedUpTo(position int64) {
	l.mu.Lock()
	l.claimed = position
	l.mu.Unlock()
	l.book.release(position)
}

// settle allows everything that is finished to be committed, when the runner will
// not come back to claim it.
func (l *lane) settle() {
	position, _ := l.book.state()
	l.book.release(position)
}

// end commits what is claimed and forgets the lane.
func (l *lane) end(ctx context.Context) error {
	l.expire.Stop()
	return l.book.flush(ctx)
}
