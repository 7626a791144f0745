package reprocess

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"millrace/schemas"
)

// OrderedSink writes groups in a given order, which a learner then reads: that of the
// ledger of the original run, so that each step gets the groups that it had. Groups
// that are not in the order come behind, by iteration and id.
//
// A group waits in memory for those before it; one that is missing holds back all
// behind it until Commit.
type OrderedSink struct {
	Sink
	mu      sync.Mutex // guards the rest
	order   []string
	next    int // of order
	ordered map[string]bool
	held    map[string]waiting
}

type waiting struct {
	samples  []schemas.Sample
	finished []int64
}

// NewOrderedSink orders the groups of a sink whose lane 0 takes all of them.
func NewOrderedSink(sink Sink, order []string) *OrderedSink {
	o := &OrderedSink{Sink: sink, order: order, ordered: map[string]bool{}, held: map[string]waiting{}}
	for _, id := range order {
		o.ordered[id] = true
	}
	return o
}

// Samples implements [Sink].
func (o *OrderedSink) Samples(ctx context.Context, _ int, samples []schemas.Sample, finished []int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held[samples[0].GroupID] = waiting{samples, finished}
	for o.next < len(o.order) {
		id := o.order[o.next]
		if _, there := o.held[id]; !there {
			break
		}
		if err := o.release(ctx, id); err != nil {
			return err
		}
		o.next++
	}
	return nil
}

func (o *OrderedSink) release(ctx context.Context, id string) error {
	w, there := o.held[id]
	if !there {
		return nil
	}
	delete(o.held, id)
	return o.Sink.Samples(ctx, 0, w.samples, w.finished)
}

// Reward implements [Sink].
func (o *OrderedSink) Reward(ctx context.Context, _ int, r schemas.Reward) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Sink.Reward(ctx, 0, r)
}

// Letter implements [Sink].
func (o *OrderedSink) Letter(ctx context.Context, _ int, d schemas.DeadLetter) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Sink.Letter(ctx, 0, d)
}

// Commit implements [Sink]: it writes what was held back first.
func (o *OrderedSink) Commit(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for ; o.next < len(o.order); o.next++ {
		if err := o.release(ctx, o.order[o.next]); err != nil {
			return err
		}
	}
	var rest []string
	for id := range o.held {
		rest = append(rest, id)
	}
	slices.SortFunc(rest, func(a, b string) int {
		return cmp.Or(cmp.Compare(o.held[a].samples[0].Iteration, o.held[b].samples[0].Iteration), cmp.Compare(a, b))
	})
	for _, id := range rest {
		if err := o.release(ctx, id); err != nil {
			return err
		}
	}
	return o.Sink.Commit(ctx)
}
