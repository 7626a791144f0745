package train

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/cespare/xxhash/v2"

	"millrace/pipelines/stage"
	"millrace/schemas"
)

// replacements are the first n of the tasks that stand in for those of an iteration
// whose groups leave their places: all other tasks, in an order of the iteration's
// own. It is a function of its arguments, as [batchTasks] is. There must be at least
// groups + n tasks.
func replacements(tasks []schemas.Task, seed uint64, iteration int64, groups, n int) []schemas.Task {
	taken := map[string]bool{}
	for _, t := range batchTasks(tasks, seed, iteration, groups) {
		taken[t.ID] = true
	}
	var b [17]byte // one byte longer than a round's, so that no round has this order
	binary.LittleEndian.PutUint64(b[:], seed)
	binary.LittleEndian.PutUint64(b[8:], uint64(iteration))
	out := make([]schemas.Task, 0, n)
	for _, i := range rand.New(rand.NewPCG(xxhash.Sum64(b[:]), 0)).Perm(len(tasks)) {
		if len(out) == n {
			break
		}
		if !taken[tasks[i].ID] {
			out = append(out, tasks[i])
		}
	}
	return out
}

// refill orders a group in the place of each that leaves its own, as soon as the
// learner knows of it and until ctx ends: dynamic sampling. Which groups are ordered
// follows from the samples alone; a run that is resumed orders what is not on the
// topic yet. Where the recipe replaces no groups it returns at once.
func (r *run) refill(ctx context.Context, tasks []schemas.Task) error {
	if r.MaxDraws() == 1 {
		return nil
	}
	ordered, err := stage.Ordered(ctx, r.stream, r.RunName())
	if err != nil {
		return err
	}
	for {
		for iteration, n := range r.parts.learner.Replaced() {
			orders := r.orders(replacements(tasks, r.Seed, iteration, r.Groups, n), iteration, ordered)
			if len(orders) == 0 {
				continue
			}
			if err := stage.Order(ctx, r.stream, r.RunName(), orders...); err != nil {
				return err
			}
			for _, o := range orders {
				ordered[schemas.GroupID(r.RunName(), o.ID, iteration)] = true
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(admissionPoll):
		}
	}
}
