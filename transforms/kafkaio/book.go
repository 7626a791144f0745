package kafkaio

import (
	"fmt"
	"sync"
	"time"
)

// book is the bookkeeping of one partition of an asynchronous stage: which
// records are begun, which are finished, and what may be committed.
//
// Invariant: committed <= target <= claim.position().
type book struct {
	*committer

	mu    sync.Mutex // guards claim
	claim *claim
}

// newBook makes the book of a partition that is read from start on, where its
// group has committed up to.
func (j *job) newBook(c broker, retry time.Duration, at partitionKey, start int64) *book {
	return &book{committer: j.newCommitter(c, retry, at, start), claim: newClaim(start)}
}

// begin notes that work on offset has started.
func (b *book) begin(offset int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.named(b.claim.begin(offset))
}

// finish notes that the outputs of offset are durable. It commits nothing.
func (b *book) finish(offset int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.named(b.claim.finish(offset))
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

// skip says that nothing below offset will be begun.
func (b *book) skip(offset int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.claim.skip(offset)
}

// release allows everything below position that is finished to be committed,
// soon.
func (b *book) release(position int64) {
	finished, _ := b.state()
	b.committer.release(min(position, finished))
}
