package rollout

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// Worker runs whole groups. It is safe for concurrent use.
type Worker struct {
	agent        *Agent
	run          string
	maxStaleness int64
	places       chan struct{} // one per rollout allowed to run at once
	poll         time.Duration
	turns        atomic.Int64 // written by every rollout as it ends
}

// Turns is the number of turns of the rollouts that have ended, failed attempts left
// out: the steps that their environments took.
func (w *Worker) Turns() int64 { return w.turns.Load() }

// NewWorker bounds the rollouts of all groups together to concurrency. An order
// of iteration b starts when the policy version is at least b - maxStaleness
// (admission).
func NewWorker(a *Agent, run string, concurrency int, maxStaleness int64) (*Worker, error) {
	if concurrency < 1 {
		return nil, fmt.Errorf("rollout concurrency is %d: must be at least 1", concurrency)
	}
	if maxStaleness < 0 {
		return nil, fmt.Errorf("max_staleness is %d: must not be negative", maxStaleness)
	}
	return &Worker{agent: a, run: run, maxStaleness: maxStaleness, places: make(chan struct{}, concurrency), poll: 20 * time.Millisecond}, nil
}

// Emit receives what a group makes, as soon as it is made, from one goroutine
// at a time.
type Emit struct {
	Trajectory func(schemas.Trajectory)
	DeadLetter func(schemas.DeadLetter)
}

// Do runs the order's rollouts and returns when each has left as a trajectory
// or as a tombstone with its dead letter. Its error is the end of ctx; then the
// order must be run again.
func (w *Worker) Do(ctx context.Context, order schemas.Task, source schemas.Position, emit Emit) error {
	if ahead, ok := w.agent.sandboxes.(sandbox.Preparer); ok && order.Environment == "" {
		ahead.Prepare(sandbox.ForAgent(order), int(order.Rollouts))
	}
	if err := w.admit(ctx, order.Iteration); err != nil {
		return err
	}
	var group sync.WaitGroup
	var mu sync.Mutex // guards emit and ended
	var ended error
	for i := range order.Rollouts {
		group.Go(func() {
			trajectory, letter, err := w.rollout(ctx, order, i, source)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				ended = err
				return
			}
			emit.Trajectory(trajectory)
			if letter != nil {
				emit.DeadLetter(*letter)
			}
		})
	}
	group.Wait()
	return ended
}

// admit waits until the policy is fresh enough for the iteration.
func (w *Worker) admit(ctx context.Context, iteration int64) error {
	for w.agent.policy.Version() < iteration-w.maxStaleness {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(w.poll):
		}
	}
	return nil
}

// rollout tries one rollout until it succeeds or its attempts are used up. A
// letter comes with a tombstone only.
func (w *Worker) rollout(ctx context.Context, order schemas.Task, index int32, source schemas.Position) (schemas.Trajectory, *schemas.DeadLetter, error) {
	select {
	case w.places <- struct{}{}:
		defer func() { <-w.places }()
	case <-ctx.Done():
		return schemas.Trajectory{}, nil, context.Cause(ctx)
	}
	started := time.Now()
	attempts := int32(w.agent.cfg.Attempts)
	var err error
	for attempt := range attempts {
		var trajectory schemas.Trajectory
		trajectory, err = w.agent.Run(ctx, order, w.run, index, attempt)
		if err == nil {
			observe(trajectory)
			w.turns.Add(int64(len(trajectory.Steps)))
			return trajectory, nil, nil
		}
		if ctx.Err() != nil {
			return schemas.Trajectory{}, nil, context.Cause(ctx)
		}
		retries.Inc()
		if hopeless(err) {
			attempts = attempt + 1
			break
		}
	}
	dead := tombstone(order, w.run, index, attempts-1, err, started)
	observe(dead)
	letter := schemas.DeadLetter{
		ID:       "rollout/" + dead.ID,
		Stage:    "rollout",
		Reason:   reason(err),
		Message:  dead.Failure,
		RecordID: dead.ID,
		Key:      []byte(dead.GroupID),
		Source:   source,
		Attempts: attempts,
		Time:     dead.Finished,
	}
	return dead, &letter, nil
}

// hopeless is true of an error that another attempt cannot help.
func hopeless(err error) bool {
	return errors.Is(err, ErrPromptTooLong) || errors.Is(err, sandbox.ErrUnsupported) ||
		errors.Is(err, ErrNoEnvironment) || errors.Is(err, ErrBadParameters)
}

func reason(err error) schemas.Reason {
	var failure *policyFailure
	switch {
	case errors.Is(err, ErrPromptTooLong):
		return schemas.PromptTooLong
	case errors.Is(err, ErrNoEnvironment), errors.Is(err, ErrBadParameters):
		return schemas.Invalid
	case errors.As(err, &failure):
		return schemas.PolicyFailure
	}
	return schemas.SandboxFailure
}
