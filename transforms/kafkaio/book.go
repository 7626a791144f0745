package kafkaio

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// commitEvery is the pause between two commits of one partition. A crash
// repeats at most what finished in that time; a commit costs the broker a
// write.
const commitEvery = 200 * time.Millisecond

// book is the bookkeeping of one partition for one consumer group: which
// records are begun, which are finished, what may be committed and what is.
//
// Invariant: committed <= target <= claim.position().
//
// The commits run on their own goroutine, so that nobody who finishes a record
// waits for the broker; target is the only thing they share with it.
type book struct {
	job    *job
	broker broker
	retry  time.Duration
	at     partitionKey
	kick   chan struct{} // capacity 1: a commit is wanted
	// writing holds a token over each commit request, so that no older one lands
	// after a newer. It is no mutex because whoever waits may have to give up.
	writing chan struct{}

	mu        sync.Mutex // guards the fields below
	claim     *claim
	sizes     map[int64]int // bytes of the begun and unfinished, by offset
	held      int           // their sum
	target    int64         // what the committing goroutine may commit
	committed int64
}

// newBook makes the book of a partition and starts its committing goroutine.
// With an empty group nothing is ever committed. A book that exists is replaced:
// whoever reads the partition anew starts from what was committed.
func (j *job) newBook(c broker, retry time.Duration, at partitionKey, start int64) *book {
	b := &book{
		job: j, broker: c, retry: retry, at: at, kick: make(chan struct{}, 1), writing: make(chan struct{}, 1),
		claim: newClaim(start), sizes: make(map[int64]int), target: start, committed: start,
	}
	j.mu.Lock()
	j.books[at] = b
	j.mu.Unlock()
	if at.group != "" {
		j.routines.Go(b.run)
	}
	return b
}

// begin notes that work on offset has started, on a value of so many bytes.
func (b *book) begin(offset int64, bytes int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.claim.begin(offset); err != nil {
		return b.named(err)
	}
	b.sizes[offset] = bytes
	b.held += bytes
	return nil
}

// finish notes that the outputs of offset are durable. It commits nothing.
func (b *book) finish(offset int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.claim.finish(offset); err != nil {
		return b.named(err)
	}
	b.held -= b.sizes[offset]
	delete(b.sizes, offset)
	return nil
}

func (b *book) named(err error) error {
	if err != nil {
		return fmt.Errorf("%s[%d]: %w", b.at.topic, b.at.partition, err)
	}
	return nil
}

// state is what there is to claim and how far the window is open.
func (b *book) state() (position int64, lag int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.claim.position(), b.claim.lag()
}

// unfinished is the size of the values that are begun and not finished.
func (b *book) unfinished() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// skip says that nothing below offset will be begun.
func (b *book) skip(offset int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.claim.skip(offset)
}

// release allows everything below position to be committed, soon.
func (b *book) release(position int64) {
	b.mu.Lock()
	b.target = max(b.target, min(position, b.claim.position()))
	b.mu.Unlock()
	select {
	case b.kick <- struct{}{}:
	default: // one is already wanted, and it will see the new target
	}
}

// run commits whenever kicked, until the job ends.
func (b *book) run() {
	for {
		select {
		case <-b.kick:
		case <-b.job.ctx.Done():
			return
		}
		if err := b.flush(b.job.ctx); err != nil && b.job.ctx.Err() == nil {
			b.job.fail(err)
			return
		}
		if !sleep(b.job.ctx, commitEvery) {
			return
		}
	}
}

// flush commits the target if it is ahead of what is committed, and returns
// when the broker has it.
func (b *book) flush(ctx context.Context) error {
	if b.at.group == "" {
		return nil
	}
	select {
	case b.writing <- struct{}{}:
		defer func() { <-b.writing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	b.mu.Lock()
	target, done := b.target, b.committed
	b.mu.Unlock()
	if target <= done {
		return nil
	}
	if err := b.broker.commit(ctx, b.retry, b.at.group, b.at.topic, b.at.partition, target); err != nil {
		return err
	}
	b.mu.Lock()
	b.committed = target
	b.mu.Unlock()
	return nil
}
