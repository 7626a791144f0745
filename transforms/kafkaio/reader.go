package kafkaio

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
type reader struct {
	cfg   ReadConfig
	at    partition
	book  *book
	stats *partitionCounters
	run   context.Context
	stop  context.CancelCauseFunc
	taken chan struct{} // capacity 1: there may be room again
	news  *bell         // of all readers of the job, which may share a bundle

	mu     sync.Mutex // guards the fields below
	buffer []Record
	bytes  int
	next   int64 // the offset of the restriction that the runner comes back with
	ended  bool
	err    error
}

// readerFor returns the running reader of a partition, or starts one at
// at.Start: at first, and, without a group, when the runner restored an older
// position.
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
	if r != nil && c.Group != "" {
		// What was read and is not acknowledged would be missing from a new book,
		// and the next commit would step over it.
		return nil, fmt.Errorf("%s[%d]: the runner came back for offset %d, not %d: this read commits to group %s and must be started anew", at.Topic, at.Partition, at.Start, r.position(), c.Group)
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
func (c ReadConfig) start(j *job, f broker, at partition) *reader {
	id := partitionKey{group: c.Group, topic: at.Topic, partition: at.Partition}
	r := &reader{cfg: c, at: at, stats: j.stats.of(at.Topic, at.Partition), taken: make(chan struct{}, 1), news: &j.news, next: at.Start}
	r.book = j.newBook(f, c.RetryFor, id, at.Start)
	r.run, r.stop = context.WithCancelCause(j.ctx)
	j.mu.Lock()
	j.readers[id] = r
	j.mu.Unlock()
	j.routines.Go(func() { r.fill(j, f) })
	return r
}

func (r *reader) position() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// fill reads until the end, a failure, or the job's drain.
func (r *reader) fill(j *job, f fetcher) {
	reading, stop := context.WithCancelCause(r.run)
	defer stop(nil)
	go func() {
		select {
		case <-j.drain:
			stop(errDrained)
		case <-reading.Done():
		}
	}()
	err := follow(reading, f, r.at, r.cfg.Brokers, r.cfg.RetryFor, r.stats.progress, func(record Record) error {
		for began, told := time.Now(), false; !r.put(record); {
			if held := r.book.unfinished(); !told && held >= r.cfg.LagBytes && time.Since(began) >= heldFor {
				slog.Warn(fmt.Sprintf("job %s: reading %s[%d] waits: %d MiB are read and not finished, and nothing was finished for %s; is more held back on purpose, give LagBytes",
					j.name, r.at.Topic, r.at.Partition, held>>20, heldFor))
				told = true
			}
			select {
			case <-r.taken:
			case <-time.After(commitEvery): // the window opens when acks arrive elsewhere
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
		r.buffer, r.bytes = nil, 0 // drained: what was not emitted is read by the next run
	}
	r.mu.Unlock()
	r.news.ring()
	if err != nil && r.run.Err() == nil && !errors.Is(err, errDrained) {
		j.fail(err)
	}
}

// put appends a record if there is room.
func (r *reader) put(record Record) bool {
	_, lag := r.book.state()
	unfinished := r.book.unfinished()
	r.mu.Lock()
	defer r.mu.Unlock()
	full := len(r.buffer) >= readAhead || r.bytes >= readAheadBytes
	if full || r.cfg.Group != "" && (lag+len(r.buffer) >= r.cfg.Lag || unfinished+r.bytes >= r.cfg.LagBytes) {
		return false
	}
	r.buffer = append(r.buffer, record)
	r.bytes += len(record.Value)
	r.stats.read(len(record.Value))
	r.news.ring()
	return true
}

// await returns when there may be something to take or to say, here or from
// another reader of the job, and at the latest after limit.
func (r *reader) await(ctx context.Context, limit time.Duration) {
	news := r.news.listen()
	if r.ready() {
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

func (r *reader) ready() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.buffer) > 0 || r.ended || r.err != nil
}

// take removes the next record and enters it into the book, to be finished by
// Commit; without a group nobody will, so it is finished here.
func (r *reader) take() (Record, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.buffer) == 0 || r.err != nil {
		return Record{}, false
	}
	record := r.buffer[0]
	if r.cfg.Group != "" {
		if err := r.book.begin(record.Source.Offset, len(record.Value)); err != nil {
			r.err = err
			return Record{}, false
		}
	}
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

// state says whether the partition is read to its end, or what failed.
func (r *reader) state() (done bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return false, r.err
	}
	done = r.ended && len(r.buffer) == 0
	if done {
		if r.at.End != unbounded {
			r.book.skip(r.at.End)
		}
	}
	return done, nil
}
