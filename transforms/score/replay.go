package score

import (
	"context"
	"fmt"
	"time"

	"millrace/schemas"
	"millrace/transforms/environment"
	"millrace/transforms/testlog"
)

// Replay rewards the trajectories of text environments: it plays the recorded turns
// again in a fresh episode, and the task's rule judges the goals that were reached as
// it judges tests that passed. What a fresh sandbox, the patch and hidden tests are to
// a repository, a fresh episode, the turns and its goals are to a text environment.
//
// A trajectory whose answers are not those of the fresh episode is a failure, and so
// is one of an environment that is not known (invariant 1).
type Replay struct {
	// Environments are known by the name that tasks give them.
	Environments map[string]environment.Environment
}

// Score returns the reward. Its error is the end of ctx.
func (r Replay) Score(ctx context.Context, t schemas.Trajectory) (schemas.Reward, error) {
	if ctx.Err() != nil {
		return schemas.Reward{}, context.Cause(ctx)
	}
	started := time.Now()
	reward := schemas.Reward{Trajectory: t}
	grade, err := r.grade(t)
	if err != nil {
		reward.Failure = err.Error()
	} else {
		reward.Value, reward.Passed, reward.FailedTests = grade.Value, grade.Passed, grade.Failed
	}
	reward.Duration = time.Since(started).Microseconds()
	return reward, nil
}

func (r Replay) grade(t schemas.Trajectory) (testlog.Grade, error) {
	e, ok := r.Environments[t.Task.Environment]
	switch {
	case t.Termination == schemas.Failed:
		return testlog.Grade{}, fmt.Errorf("rollout: %s", t.Failure)
	case !ok:
		return testlog.Grade{}, fmt.Errorf("task %s: unknown text environment %q", t.Task.ID, t.Task.Environment)
	case len(t.Task.FailToPass) == 0:
		return testlog.Grade{}, fmt.Errorf("task %s names no goal, so nothing can decide it", t.Task.ID)
	}
	reached, missed, err := environment.Replay(e, t)
	if err != nil {
		return testlog.Grade{}, err
	}
	return testlog.Again(t.Task, reached, missed)
}

// Verdict decides a trajectory by what its task holds: the goals of a text
// environment, hidden tests otherwise.
type Verdict struct {
	Goals Replay
	Tests Rewarder
}

// Score returns the reward of whichever decides.
func (v Verdict) Score(ctx context.Context, t schemas.Trajectory) (schemas.Reward, error) {
	if t.Task.Environment != "" {
		return v.Goals.Score(ctx, t)
	}
	return v.Tests.Score(ctx, t)
}
