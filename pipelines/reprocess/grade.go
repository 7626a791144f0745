package reprocess

import (
	"context"

	"golang.org/x/sync/errgroup"

	"millrace/schemas"
)

// Grader gives a trajectory its reward anew.
type Grader interface {
	// Grade returns r with another value, or with the failure that left it without one.
	// An error is the end of ctx.
	Grade(ctx context.Context, r schemas.Reward) (schemas.Reward, error)
}

// visited is a record on its way through the grader.
type visited struct {
	before, after schemas.Reward
	source        schemas.Position
	letter        *schemas.DeadLetter // instead of a reward
	done          chan struct{}       // closed when after is there
	err           error
}

// graded reads a lane of a source through the grader: at most inFlight trajectories are
// graded at once, and they are delivered in the order of the source. Without a grader
// the rewards are the recorded ones.
func (j *job) graded(ctx context.Context, lane int, wanted func(string) bool, deliver func(visited) error) error {
	if j.Grader == nil {
		return j.Source.Read(ctx, lane, Visitor{
			Wanted: wanted,
			Reward: func(r schemas.Reward, source schemas.Position) error {
				return deliver(visited{before: r, after: r, source: source})
			},
			Broken: func(d schemas.DeadLetter) error { return deliver(visited{letter: &d}) },
		})
	}
	queue := make(chan *visited, max(1, j.InFlight)-1)
	both, ctx := errgroup.WithContext(ctx)
	put := func(v *visited) error {
		select {
		case queue <- v:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	both.Go(func() error {
		defer close(queue)
		return j.Source.Read(ctx, lane, Visitor{
			Wanted: wanted,
			Reward: func(r schemas.Reward, source schemas.Position) error {
				v := &visited{before: r, source: source, done: make(chan struct{})}
				if !j.Selection.takes(&r.Trajectory) { // nobody asks for its reward
					v.after = r
					close(v.done)
					return put(v)
				}
				if err := put(v); err != nil {
					return err
				}
				both.Go(func() error {
					defer close(v.done)
					v.after, v.err = j.Grader.Grade(ctx, r)
					return nil
				})
				return nil
			},
			Broken: func(d schemas.DeadLetter) error {
				v := &visited{letter: &d, done: make(chan struct{})}
				close(v.done)
				return put(v)
			},
		})
	})
	both.Go(func() error {
		for v := range queue {
			<-v.done
			if v.err != nil {
				return v.err
			}
			if err := deliver(*v); err != nil {
				return err
			}
		}
		return nil
	})
	return both.Wait()
}
