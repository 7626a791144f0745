package chaos

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync/atomic"
	"time"

	"millrace/kernels"
	"millrace/pipelines/journal"
	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

const feedPoll = 10 * time.Millisecond

// feed orders one iteration after the other, each when the policy is fresh
// enough, and keeps the run's journal, as the pipeline train does in one process.
func (r *role) feed(ctx context.Context) error {
	if err := r.topics(ctx); err != nil {
		return err
	}
	s := r.settings.stream(r.name)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var version atomic.Int64
	version.Store(-1)
	go func() {
		stop(stage.FollowPolicy(ctx, s, run, func(v int64, _ []kernels.Tensor) error {
			version.Store(v)
			return nil
		}))
	}()
	recorded := make(chan error, 1)
	go func() { recorded <- r.record(ctx, s) }()
	ordered, err := stage.Ordered(ctx, s, run)
	if err != nil {
		return err
	}
	for iteration := int64(0); ; {
		target, err := readNumber(filepath.Join(r.campaign, targetFile), math.MaxInt64)
		if err != nil {
			return err
		}
		if iteration < target && version.Load() >= iteration {
			var orders []schemas.Task
			for _, t := range tasks(iteration) {
				if !ordered[schemas.GroupID(run, t.ID, iteration)] {
					orders = append(orders, t)
				}
			}
			if err := stage.Order(ctx, s, run, orders...); err != nil {
				return err
			}
			iteration++
			continue
		}
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
				return cause
			}
			return nil
		case err := <-recorded:
			if ctx.Err() == nil {
				return err
			}
		case <-time.After(feedPoll):
		}
	}
}

// record writes each step of the ledger topic into the journal, once.
func (r *role) record(ctx context.Context, s stage.Stream) error {
	j, err := journal.Open(r.dir)
	if err != nil {
		return err
	}
	defer j.Close()
	before, err := journal.Read(r.dir)
	if err != nil {
		return err
	}
	known := map[int64]bool{}
	for _, step := range before.Steps {
		known[step.Number] = true
	}
	return kafkaio.Scan(ctx, s.Brokers, s.Topics.Ledger, nil, func(record kafkaio.Record) error {
		updates, err := schemas.Updates.Decode(record.Value)
		if err != nil {
			return fmt.Errorf("reading the ledger: %w", err)
		}
		for _, u := range updates {
			if known[u.Step] {
				continue
			}
			known[u.Step] = true
			if err := j.Step(u.Step, time.UnixMicro(u.Finished), u.Metrics); err != nil {
				return err
			}
		}
		return nil
	})
}
