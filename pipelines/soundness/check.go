// Package soundness tells whether the tests of a task decide it: they fail with no
// patch and pass with the gold patch, every time they run.
//
// A failure of the infrastructure is neither: such a task is not judged
// (invariant 1).
package soundness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/score"
)

// Verdict is what a check came to.
type Verdict string

// The verdicts, in the order in which they are looked for.
const (
	// Unjudged is a task that could not be scored: its image, its setup, a patch
	// that does not apply, no gold patch.
	Unjudged Verdict = "unjudged"
	// Flaky is a task that equal patches scored differently.
	Flaky Verdict = "flaky"
	// Trivial is a task that no patch at all solves.
	Trivial Verdict = "trivial"
	// Unsolved is a task that its gold patch does not solve.
	Unsolved Verdict = "unsolved"
	Sound    Verdict = "sound"
)

// Outcome is what became of one task.
type Outcome struct {
	Task    schemas.Task
	Verdict Verdict
	// Empty and Gold are the rewards of no patch and of the gold patch, of each
	// repetition that could be scored.
	Empty, Gold []float64
	// Detail names the tests that are at fault, or the failure.
	Detail string
}

// Config are the settings of [Check].
type Config struct {
	// Times is how often each of the two patches is scored.
	Times int
	// Concurrency bounds the tasks that are checked at once.
	Concurrency int
	// Score are the scorer's settings; its caches are not used, since each
	// repetition has to run.
	Score score.Config
}

// Check checks tasks in sandboxes of provider and calls told with each outcome,
// from one goroutine at a time and in any order. Its error is that of the settings,
// of told, or the end of ctx.
func Check(ctx context.Context, tasks []schemas.Task, provider sandbox.Provider, c Config, told func(Outcome) error) error {
	if c.Times < 1 || c.Concurrency < 1 {
		return fmt.Errorf("checking tasks %d times, %d at once: want at least 1", c.Times, c.Concurrency)
	}
	c.Score.CacheEntries, c.Score.CacheFile = 1, ""
	outcomes := make(chan Outcome)
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error {
		defer close(outcomes)
		checks, ctx := errgroup.WithContext(ctx)
		checks.SetLimit(c.Concurrency)
		for _, task := range tasks {
			checks.Go(func() error {
				o, err := check(ctx, task, provider, c)
				if err != nil {
					return err
				}
				select {
				case outcomes <- o:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			})
		}
		return checks.Wait()
	})
	work.Go(func() error {
		for o := range outcomes {
			if err := told(o); err != nil {
				return err
			}
		}
		return nil
	})
	return work.Wait()
}

// check scores both patches of one task.
func check(ctx context.Context, task schemas.Task, provider sandbox.Provider, c Config) (Outcome, error) {
	o := Outcome{Task: task}
	if task.GoldPatch == "" {
		o.Verdict, o.Detail = Unjudged, "the task has no gold patch"
		return o, nil
	}
	failing := map[string]int{} // tests that failed under the gold patch
	for range c.Times {
		for _, gold := range []bool{false, true} {
			r, err := scored(ctx, task, gold, provider, c.Score)
			if err != nil {
				return o, err
			}
			if r.Failure != "" {
				o.Verdict, o.Detail = Unjudged, r.Failure
				return o, nil
			}
			if !gold {
				o.Empty = append(o.Empty, r.Value)
				continue
			}
			o.Gold = append(o.Gold, r.Value)
			for _, test := range r.FailedTests {
				failing[test]++
			}
		}
	}
	o.judge(failing)
	return o, nil
}

// judge sets the verdict of rewards that are all there.
func (o *Outcome) judge(failing map[string]int) {
	switch {
	case spread(o.Empty) || spread(o.Gold):
		o.Verdict, o.Detail = Flaky, named(failing)
	case o.Empty[0] == 1:
		o.Verdict = Trivial
	case o.Gold[0] != 1:
		o.Verdict, o.Detail = Unsolved, named(failing)
	default:
		o.Verdict = Sound
	}
}

func spread(rewards []float64) bool { return slices.Min(rewards) != slices.Max(rewards) }

// mostNamed bounds the tests that a detail names.
const mostNamed = 3

func named(failing map[string]int) string {
	var names []string
	for name := range failing {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return ""
	}
	text := fmt.Sprintf("failed with the gold patch: %q", names[:min(len(names), mostNamed)])
	if more := len(names) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// scored scores one patch by a scorer that remembers nothing.
func scored(ctx context.Context, task schemas.Task, gold bool, provider sandbox.Provider, c score.Config) (r schemas.Reward, err error) {
	scorer, err := score.NewScorer(c, provider)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, scorer.Close()) }()
	t := schemas.Trajectory{ID: "check/" + task.ID, GroupID: task.ID, Task: task, Termination: schemas.Finished}
	if gold {
		t.Patch = task.GoldPatch
	}
	return scorer.Score(ctx, t)
}
