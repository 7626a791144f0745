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

// batchTasks are the tasks of one iteration: the task set is walked in a random
// order, a new one each time round. What does not fill an iteration at the end
// of a round is left out, so no iteration has a task twice (its groups would
// have one id). It is a function of its arguments: a resumed run orders what the
// undisturbed one would have. There must be at least as many tasks as groups.
func batchTasks(tasks []schemas.Task, seed uint64, iteration int64, groups int) []schemas.Task {
	perRound := int64(len(tasks) / groups)
	round, first := iteration/perRound, int(iteration%perRound)*groups
	out := make([]schemas.Task, 0, groups)
	for _, i := range roundOrder(len(tasks), seed, round)[first : first+groups] {
		out = append(out, tasks[i])
	}
	return out
}

func roundOrder(n int, seed uint64, round int64) []int {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	binary.LittleEndian.PutUint64(b[8:], uint64(round))
	return rand.New(rand.NewPCG(xxhash.Sum64(b[:]), 0)).Perm(n)
}

// admissionPoll is how often the feeder looks at the policy version.
const admissionPoll = 20 * time.Millisecond

// feed writes the orders of iterations first..last-1, each when the policy is
// fresh enough for it (admission: version >= iteration - staleness). Orders that
// are on the topic already are left out. It returns the first iteration that is
// not ordered: last, or an earlier one with the cause of ctx's end.
func feed(ctx context.Context, s stage.Stream, c Config, tasks []schemas.Task, version func() int64, first, last int64, ordered map[string]bool) (int64, error) {
	run := c.RunName()
	for iteration := first; iteration < last; iteration++ {
		for version() < iteration-c.MaxStaleness {
			select {
			case <-ctx.Done():
				return iteration, context.Cause(ctx)
			case <-time.After(admissionPoll):
			}
		}
		orders := c.orders(batchTasks(tasks, c.Seed, iteration, c.Groups), iteration, ordered)
		if err := stage.Order(ctx, s, run, orders...); err != nil {
			return iteration, err
		}
	}
	return last, nil
}

// orders are the work orders of an iteration for tasks, without those that are on the
// topic already.
func (c Config) orders(tasks []schemas.Task, iteration int64, ordered map[string]bool) []schemas.Task {
	var orders []schemas.Task
	for _, t := range tasks {
		t.Iteration, t.Rollouts = iteration, c.GroupSize
		if !ordered[schemas.GroupID(c.RunName(), t.ID, iteration)] {
			orders = append(orders, t)
		}
	}
	return orders
}
