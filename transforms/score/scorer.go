package score

import (
	"context"
	"errors"
	"fmt"
	"time"

	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/testlog"
)

// Scorer scores trajectories by their tasks' hidden tests. It is safe for
// concurrent use, and bounds nothing itself: the caller decides how many
// trajectories are scored at once.
type Scorer struct {
	config   Config
	provider sandbox.Provider
	cache    *cache
	counters counters
}

// NewScorer returns a scorer that makes its sandboxes with provider, which
// stays the caller's to close. It opens the cache file.
func NewScorer(config Config, provider sandbox.Provider) (*Scorer, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	c, err := newCache(config.CacheEntries, config.CacheFile)
	if err != nil {
		return nil, err
	}
	return &Scorer{config: config, provider: provider, cache: c}, nil
}

// Close closes the cache file. It reports if the file could not take every run.
func (s *Scorer) Close() error { return s.cache.close() }

// Score returns the reward of a trajectory. Exactly one of these holds:
//
//   - the error is nil and the reward has a value: the tests ran, or ran into
//     their own time limit, or did not compile;
//   - the error is nil and Reward.Failure is set: the trajectory is a tombstone,
//     the task cannot be scored, the patch does not apply to its own snapshot, or
//     the infrastructure failed Config.Attempts times (invariant 1);
//   - the error is the end of ctx: nothing is known, and the caller must not
//     write the reward but leave the trajectory to be scored again.
func (s *Scorer) Score(ctx context.Context, t schemas.Trajectory) (schemas.Reward, error) {
	started := time.Now()
	reward := schemas.Reward{Trajectory: t}
	run, cached, err := s.run(ctx, t)
	var grade testlog.Grade
	if err == nil {
		grade, err = testlog.Judge(t.Task, run.Results)
	}
	switch {
	case errors.Is(err, errStopped):
		return schemas.Reward{}, fmt.Errorf("scoring trajectory %s: %w", t.ID, err)
	case err != nil:
		s.counters.failures.Add(1)
		reward.Failure = err.Error()
	default:
		reward.Value, reward.Passed, reward.FailedTests = grade.Value, grade.Passed, grade.Failed
		reward.Output, reward.Cached = run.Text, cached
		if cached {
			s.counters.hits.Add(1)
		}
	}
	reward.Duration = time.Since(started).Microseconds()
	s.counters.scored.Add(1)
	return reward, nil
}

// run returns the test run that decides a trajectory.
func (s *Scorer) run(ctx context.Context, t schemas.Trajectory) (Run, bool, error) {
	if t.Termination == schemas.Failed {
		return Run{}, false, fmt.Errorf("rollout: %s", t.Failure)
	}
	if err := scorable(t.Task); err != nil {
		return Run{}, false, err
	}
	e, err := settingOf(t.Task, t.Patch)
	if err != nil {
		return Run{}, false, err
	}
	return s.cache.do(e.key(s.environment(), t.ImageDigest, t.Task), func() (Run, error) {
		return s.retry(ctx, func() (Run, error) {
			return s.attempt(ctx, t.ID, t.Task, e)
		})
	})
}

// environment names what verdicts depend on beside the task and the workspace.
func (s *Scorer) environment() string {
	environment := s.provider.Describe() + "\n" + s.config.Environment
	if s.config.Compat {
		environment += "\ncompat"
	}
	return environment
}

// scorable says what a task lacks to be scored here.
func scorable(t schemas.Task) error {
	switch {
	case t.TestCommand == "":
		return fmt.Errorf("task %s has no test command", t.ID)
	case len(t.FailToPass)+len(t.PassToPass)+len(t.Expected) == 0:
		return fmt.Errorf("task %s expects no test, so nothing can decide it", t.ID)
	}
	if err := errors.Join(testlog.CheckFormat(t.TestFormat), testlog.CheckRule(t.Rule)); err != nil {
		return fmt.Errorf("task %s: %w", t.ID, err)
	}
	return nil
}

// errStopped marks the end of the caller's context, as opposed to a deadline
// that the scorer set itself.
var errStopped = errors.New("scoring stopped")

// retry calls f until it succeeds, at most Config.Attempts times, with pauses
// that double. It returns errStopped when ctx ends, else f's last error.
func (s *Scorer) retry(ctx context.Context, f func() (Run, error)) (Run, error) {
	pause := s.config.Backoff
	for attempt := 1; ; attempt++ {
		run, err := f()
		if err == nil {
			return run, nil
		}
		if ctx.Err() != nil {
			return Run{}, fmt.Errorf("%w: %w", errStopped, context.Cause(ctx))
		}
		if errors.Is(err, sandbox.ErrPatch) || errors.Is(err, sandbox.ErrUnsupported) {
			return Run{}, err
		}
		if attempt == s.config.Attempts {
			return Run{}, fmt.Errorf("after %d attempts: %w", attempt, err)
		}
		s.counters.retries.Add(1)
		select {
		case <-ctx.Done():
			return Run{}, fmt.Errorf("%w: %w", errStopped, context.Cause(ctx))
		case <-time.After(pause):
		}
		pause = min(2*pause, maxBackoff)
	}
}
