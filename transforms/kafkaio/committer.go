package kafkaio

import (
	"context"
	"sync"
	"time"
)

// commitEvery is the pause between two commits of one partition. A crash
// repeats at most what finished in that time; a commit costs the broker a
// write.
const commitEvery = 200 * time.Millisecond

// committer commits the position of one partition for one consumer group.
//
// Invariant: committed <= target.
//
// The commits run on their own goroutine, so that nobody who finishes a record
// waits for the broker; target is the only thing they share with it.
type committer struct {
	job    *job
	broker broker
	retry  time.Duration
	at     partitionKey
	kick   chan struct{} // capacity 1: a commit is wanted
	// writing holds a token over each commit request, so that no older one lands
	// after a newer. It is no mutex because whoever waits may have to give up.
	writing chan struct{}

	mu        sync.Mutex // guards the fields below
	target    int64      // what the committing goroutine may commit
	committed int64
}

// newCommitter makes the committer of a partition, whose committed position is
// start, and starts its goroutine. With an empty group nothing is ever
// committed. One that exists is replaced: whoever reads the partition anew
// starts from what was committed.
func (j *job) newCommitter(c broker, retry time.Duration, at partitionKey, start int64) *committer {
	m := &committer{
		job: j, broker: c, retry: retry, at: at, kick: make(chan struct{}, 1), writing: make(chan struct{}, 1),
		target: start, committed: start,
	}
	j.mu.Lock()
	j.committers[at] = m
	j.mu.Unlock()
	if at.group != "" {
		j.routines.Go(m.run)
	}
	return m
}

// release allows everything below position to be committed, soon.
func (m *committer) release(position int64) {
	m.mu.Lock()
	m.target = max(m.target, position)
	m.mu.Unlock()
	select {
	case m.kick <- struct{}{}:
	default: // one is already wanted, and it will see the new target
	}
}

// run commits whenever kicked, until the job ends.
func (m *committer) run() {
	for {
		select {
		case <-m.kick:
		case <-m.job.ctx.Done():
			return
		}
		if err := m.flush(m.job.ctx); err != nil && m.job.ctx.Err() == nil {
			m.job.fail(err)
			return
		}
		if !sleep(m.job.ctx, commitEvery) {
			return
		}
	}
}

// flush commits the target if it is ahead of what is committed, and returns
// when the broker has it.
func (m *committer) flush(ctx context.Context) error {
	if m.at.group == "" {
		return nil
	}
	select {
	case m.writing <- struct{}{}:
		defer func() { <-m.writing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	m.mu.Lock()
	target, done := m.target, m.committed
	m.mu.Unlock()
	if target <= done {
		return nil
	}
	if err := m.broker.commit(ctx, m.retry, m.at.group, m.at.topic, m.at.partition, target); err != nil {
		return err
	}
	m.mu.Lock()
	m.committed = target
	m.mu.Unlock()
	return nil
}
