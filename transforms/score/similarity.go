package score

import (
	"context"
	"errors"
	"fmt"
	"time"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// BadFormat is the reward of a rollout that ended because the agent wrote no usable
// calls: what SWE-RL gives an answer that cannot be read.
const BadFormat = -1.0

// Similarity rewards a patch by its likeness to the task's gold patch (SWE-RL, Wei et
// al. 2025, arXiv:2502.18449, section 2.2):
//
//	-1                          the rollout is malformed
//	mean over F of ratio_f      else, F the files that the patch or the gold patch changes
//
// ratio_f compares the unified diffs of a file, character by character
// (difflib.Ratio); it is 0 for a file that one of the two does not change. Both
// patches are first applied to the snapshot and their diffs are made anew
// (difflib.Hunks), so how a diff was written does not count. An agent that changes
// nothing has reward 0. The files of a task with an image are not at hand: there
// the patches are compared as they are written ([DiffSimilarity]), and one of the two
// that is empty is worth 0.
//
// The ratios are summed in the order of the files' paths, one after the other. SWE-RL
// sums a Python set, in an order that no two processes share, and from Python 3.12 on
// with compensation; so means over three files or more agree with it to the last bits
// and not always in them. A single ratio agrees to the bit.
//
// A task without gold patch, and a file that is too much to compare
// (difflib.ErrTooMuch), are failures and not rewards (invariant 1).
type Similarity struct{}

// Score returns the reward. Its error is the end of ctx.
func (Similarity) Score(ctx context.Context, t schemas.Trajectory) (schemas.Reward, error) {
	if ctx.Err() != nil {
		return schemas.Reward{}, context.Cause(ctx)
	}
	started := time.Now()
	reward := schemas.Reward{Trajectory: t}
	value, err := similarity(ctx, t)
	switch {
	case err == nil:
		reward.Value = value
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return schemas.Reward{}, fmt.Errorf("scoring trajectory %s: %w", t.ID, err)
	default:
		reward.Failure = err.Error()
	}
	reward.Duration = time.Since(started).Microseconds()
	return reward, nil
}

func similarity(ctx context.Context, t schemas.Trajectory) (float64, error) {
	switch {
	case t.Termination == schemas.Failed:
		return 0, fmt.Errorf("rollout: %s", t.Failure)
	case t.Task.GoldPatch == "":
		return 0, fmt.Errorf("task %s has no gold patch to compare with", t.Task.ID)
	case t.Termination == schemas.Malformed:
		return BadFormat, nil
	case t.Task.Image != "":
		return DiffSimilarity(t.Task.GoldPatch, t.Patch)
	}
	gold, err := sandbox.Apply(t.Task.Files, t.Task.GoldPatch)
	if err != nil {
		return 0, fmt.Errorf("applying the gold patch of task %s: %w", t.Task.ID, err)
	}
	made, err := sandbox.Apply(t.Task.Files, t.Patch)
	if err != nil {
		return 0, fmt.Errorf("applying the agent's patch to the snapshot of task %s: %w", t.Task.ID, err)
	}
	return snapshotSimilarity(ctx, t.Task.Files, gold, made)
}
