package reprocess

import (
	"context"

	"millrace/schemas"
)

// Sink takes what leaves. A lane calls its methods from one goroutine; lanes call them
// at once. Nothing that is handed over may be changed afterwards.
type Sink interface {
	// Samples takes all samples of a group; finished are the times in Unix microseconds
	// at which their rollouts ended.
	Samples(ctx context.Context, lane int, samples []schemas.Sample, finished []int64) error
	// Reward takes a trajectory with another reward than it had.
	Reward(ctx context.Context, lane int, r schemas.Reward) error
	// Letter takes a dead letter.
	Letter(ctx context.Context, lane int, d schemas.DeadLetter) error
	// Commit makes all of it durable, and seen.
	Commit(ctx context.Context) error
	// Abandon removes what was not committed, as far as it can be removed. It may always
	// be called.
	Abandon()
}
