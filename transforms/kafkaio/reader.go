package kafkaio

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// readAhead bounds what one partition holds in memory between the broker and
	// the runner: this many records and bytes, plus one answer.
	readAhead      = 4096
	readAheadBytes = 16 << 20
	// heldFor is how long a pipeline that finishes nothing may hold back as much as
	// it may before that is told.
	heldFor = 30 * time.Second
)

// reader is one partition of a Read: a goroutine fills the buffer, and
// ProcessElement empties it.
//
// Its Commit may be in another worker; what both see is the group's committed
// position.
type reader struct {
	cfg    ReadConfig
	at     partition
	broker broker
	stats  *partitionCounters
	run    context.Context
	stop   context.CancelCauseFunc
	taken  chan struct{} // capacity 1: there may be room again
	job    *job          // whose readers may share a bundle

	mu      sync.Mutex // guards the fields below
	buffer  []Record
	bytes   int
	next    int64 // the offset of the restriction that the runner comes back with
	ended   bool
	drained bool // the end is that of the job's drain
	told    bool // the runner knows of the end
	met     bool // the runner has asked before
	err     error

	// Only the filling goroutine uses the fields below.

	// committed is the group's position when it was last asked for; at.Start at
	// first. unfinished are the records read from there on, held the bytes of their
	// values.
	committed  int64
	unfinished []extent
	held       int
}

// extent is where a value was and how large it is.
type extent struct {
	offset int64
	bytes  int
}

// readerFor returns the running reader of a partition, or starts one at
// at.Start: at first, and when the runner has gone back to an older position.
//
// A reader has no lease as a lane has: one that nobody asks for any more stops
// by itself when its buffer is full.
func (c ReadConfig) readerFor(at partition) (*reader, error) {
	j := jobFor(c.Job)
	if err := j.failure(); err != nil {
		return nil, err
	}
	id := partitionKey{group: c.Group, topic: at.Topic, partition: at.Partition}
	j.mu.Lock()
	r := j.readers[id]
	j.mu.Unlock()
	if r != nil && r.position() == at.Start {
		return r, nil
	}
	if r != nil {
		r.stop(errStopped)
	}
	if j.ctx.Err() != nil {
		return nil, context.Cause(j.ctx)
	}
	return c.start(j, clientFor(c.Brokers), at), nil
}

// start makes a reader and lets it fill its buffer.
func (c ReadConfig) start(j *job, b broker, at partition) *reader {
	id := partitionKey{group: c.Group, topic: at.Topic, partition: at.Partition}
	r := &reader{
		cfg: c, at: at, broker: b, stats: j.stats.of(at.Topic, at.Partition), taken: make(chan struct{}, 1),
		job: j, next: at.Start, committed: at.Start,
	}
	r.run, r.stop = context.WithCancelCause(j.ctx)
	j.mu.Lock()
	j.readers[id] = r
	j.mu.Unlock()
	j.routines.Go(r.fill)
	return r
}

func (r *reader) position() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// fill reads until the end, a failure, or the job's drain.
func (r *reader) fill() {
	reading, stop := context.WithCancelCause(r.run)
	defer stop(nil)
	go func() {
		select {
		case <-r.job.drain:
			stop(errDrained)
		case <-reading.Done():
		}
	}()
	err := follow(reading, r.broker, r.at, r.cfg.Brokers, r.cfg.RetryFor, r.stats.progress, func(record Record) error {
		if err := r.keepUp(reading, record); err != nil {
			return err
		}
		for !r.put(record) {
			select {
			case <-r.taken:
			case <-reading.Done():
				return context.Cause(reading)
			}
		}
		return nil
	})
	r.mu.Lock()
	r.ended = true
	if err != nil && !errors.Is(err, errDrained) {
		r.err = err
	} else if err != nil {
		r.drained = true
		r.buffer, r.bytes = nil, 0 // drained: what was not emitted is read by the next run
	}
	r.mu.Unlock()
	r.job.news.ring()
	if err != nil && r.run.Err() == nil && !errors.Is(err, errDrained) {
		r.job.fail(err)
	}
}

// keepUp waits until there is room for a record between the committed position and
// the limits. Lag counts offsets, which is at least the number of records.
func (r *reader) keepUp(ctx context.Context, record Record) error {
	if !r.cfg.tracked {
		return nil
	}
	for moved, told := time.Now(), false; record.Source.Offset-r.committed >= int64(r.cfg.Lag) || r.held >= r.cfg.LagBytes; {
		position, err := r.broker.groupPosition(ctx, r.cfg.RetryFor, r.cfg.Group, r.at.Topic, r.at.Partition)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if position > r.committed {
			r.finished(position)
			moved = time.Now()
			continue
		}
		if !told && r.held >= r.cfg.LagBytes && time.Since(moved) >= heldFor {
			slog.Warn(fmt.Sprintf("job %s: reading %s[%d] waits: %d MiB are read and not finished, and nothing was finished for %s; is more held back on purpose, give LagBytes",
				r.cfg.Job, r.at.Topic, r.at.Partition, r.held>>20, heldFor))
			told = true
		}
		if !sleep(ctx, commitEvery) {
			return context.Cause(ctx)
		}
	}
	r.unfinished = append(r.unfinished, extent{record.Source.Offset, len(record.Value)})
	r.held += len(record.Value)
	return nil
}

// finished notes the group's position.
func (r *reader) finished(position int64) {
	r.committed = position
	n := 0
	for n < len(r.unfinished) && r.unfinished[n].offset < position {
		r.held -= r.unfinished[n].bytes
		n++
	}
	r.unfinished = r.unfinished[n:]
}

// put appends a record if there is room.
func (r *reader) put(record Record) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.buffer) >= readAhead || r.bytes >= readAheadBytes {
		return false
	}
	r.buffer = append(r.buffer, record)
	r.bytes += len(record.Value)
	r.stats.read(len(record.Value))
	r.job.news.ring()
	return true
}

// await returns when there is something to take or to say, here or from another
// reader of the job, and at the latest after limit. A bundle serves its partitions
// in turn, so what another reader has must not wait either, whether it came during
// this wait or before it; and the first wait is short, because the partitions behind
// this one may have no reader yet.
func (r *reader) await(ctx context.Context, limit time.Duration) {
	if r.first() {
		limit = min(limit, readMore)
	}
	news := r.job.news.listen()
	if r.job.anyReady() {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-news:
	case <-ctx.Done():
	case <-timer.C:
	}
}

// first says whether the runner asks for the first time.
func (r *reader) first() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := !r.met
	r.met = true
	return first
}

// anyReady says whether any reader of the job has something for the runner.
func (j *job) anyReady() bool {
	j.mu.Lock()
	readers := slices.Collect(maps.Values(j.readers))
	j.mu.Unlock()
	return slices.ContainsFunc(readers, (*reader).ready)
}

func (r *reader) ready() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.buffer) > 0 || r.ended && !r.told
}

// take removes the next record.
func (r *reader) take() (Record, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.buffer) == 0 || r.err != nil {
		return Record{}, false
	}
	record := r.buffer[0]
	r.buffer[0] = Record{} // let go of its bytes
	r.buffer = r.buffer[1:]
	r.bytes -= len(record.Value)
	r.next = record.Source.Offset + 1
	select {
	case r.taken <- struct{}{}:
	default:
	}
	return record, true
}

// state says whether the partition is read to its end, or to where the job's
// drain stopped it, or what failed.
func (r *reader) state() (done, drained bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return false, false, r.err
	}
	r.told = r.ended && len(r.buffer) == 0
	return r.told, r.drained, nil
}
