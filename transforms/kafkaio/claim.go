package kafkaio

import "fmt"

// claim follows the records of one partition from the moment work on them
// begins to the moment their outputs are durable, which happens in any order,
// and knows the smallest offset that is not finished. It is a pure state
// machine: no clock, no lock, no I/O.
//
//	offsets   10 11 12 13 14 15
//	begun      x  x  x  x  x        next = 15
//	finished   x  x     x
//	                 ^ position = 12: what may be committed
//
// Invariant: position <= every begun offset that is not finished.
// Invariant: position <= next, and position = next exactly when all is finished.
// Invariant: position and next never decrease.
//
// Offsets may have gaps (control records, compaction): a gap is finished by
// definition, because nothing will ever be begun there.
type claim struct {
	// next is the smallest offset that may still be begun.
	next int64
	// window holds the begun offsets from position on, ascending; window[head]
	// is the oldest and is never finished.
	window []int64
	head   int
	// finished says of each offset in the window whether it is finished.
	finished map[int64]bool
}

// newClaim starts at a position below which nothing will be begun.
func newClaim(start int64) *claim {
	return &claim{next: start, finished: make(map[int64]bool)}
}

// begin notes that work on offset has started. Offsets begin in ascending
// order; anything else is an error and changes nothing.
func (c *claim) begin(offset int64) error {
	if offset < c.next {
		return fmt.Errorf("offset %d begun again or out of order: next is %d", offset, c.next)
	}
	c.window = append(c.window, offset)
	c.finished[offset] = false
	c.next = offset + 1
	return nil
}

// finish notes that everything made from offset is durable. Finishing twice, or
// what was never begun, is an error and changes nothing: it means that somebody
// acknowledged a record that is not theirs.
func (c *claim) finish(offset int64) error {
	done, begun := c.finished[offset]
	if !begun && offset < c.position() {
		return fmt.Errorf("offset %d finished twice: everything below %d is", offset, c.position())
	}
	if !begun {
		return fmt.Errorf("offset %d finished but never begun", offset)
	}
	if done {
		return fmt.Errorf("offset %d finished twice", offset)
	}
	c.finished[offset] = true
	for c.head < len(c.window) && c.finished[c.window[c.head]] {
		delete(c.finished, c.window[c.head])
		c.head++
	}
	// Moving the rest down only when half is dead keeps finish amortised O(1).
	if c.head > len(c.window)/2 {
		c.window = append(c.window[:0], c.window[c.head:]...)
		c.head = 0
	}
	return nil
}

// skip says that nothing below offset will be begun any more.
func (c *claim) skip(offset int64) {
	c.next = max(c.next, offset)
}

// position is the smallest offset not finished: the position to commit.
func (c *claim) position() int64 {
	if c.head < len(c.window) {
		return c.window[c.head]
	}
	return c.next
}

// lag is the number of begun offsets from position on, finished or not. It is
// what one straggler makes grow.
func (c *claim) lag() int { return len(c.window) - c.head }
