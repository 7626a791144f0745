package score

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// BadFormat is the reward of a rollout that ended because the agent wrote no usable
// calls: what SWE-RL gives an answer that cannot be read.
const BadFormat = -1.0

// similarityLimit bounds the characters of one file's diff. The comparison takes time
// in the square of it, and at worst in the cube.
const similarityLimit = 1 << 15

// Similarity rewards a patch by its likeness to the task's gold patch (SWE-RL, Wei et
// al. 2025, arXiv:2502.18449, section 2.2):
//
//	-1                          the rollout is malformed
//	mean over F of ratio_f      else, F the files that the patch or the gold patch changes
//
// ratio_f compares the unified diffs of a file, character by character (difflib); it is
// 0 for a file that one of the two does not change. Both patches are first applied to
// the snapshot and their diffs are made anew, so how a diff was written does not count.
// An agent that changes nothing has reward 0. Files are summed in the order of their
// paths.
//
// A task without files or gold patch, and a file whose diff is longer than 32,768
// characters, are failures and not rewards (invariant 1).
type Similarity struct{}

// Score returns the reward. Its error is the end of ctx.
func (Similarity) Score(ctx context.Context, t schemas.Trajectory) (schemas.Reward, error) {
	if err := ctx.Err(); err != nil {
		return schemas.Reward{}, context.Cause(ctx)
	}
	started := time.Now()
	reward := schemas.Reward{Trajectory: t}
	value, err := similarity(t)
	if err != nil {
		reward.Failure = err.Error()
	} else {
		reward.Value = value
	}
	reward.Duration = time.Since(started).Microseconds()
	return reward, nil
}

func similarity(t schemas.Trajectory) (float64, error) {
	switch {
	case t.Termination == schemas.Failed:
		return 0, fmt.Errorf("rollout: %s", t.Failure)
	case len(t.Task.Files) == 0:
		return 0, fmt.Errorf("task %s holds no files, and a patch is compared by applying it", t.Task.ID)
	case t.Task.GoldPatch == "":
		return 0, fmt.Errorf("task %s has no gold patch to compare with", t.Task.ID)
	case t.Termination == schemas.Malformed:
		return BadFormat, nil
	}
	gold, err := changes(t.Task.Files, t.Task.GoldPatch)
	if err != nil {
		return 0, fmt.Errorf("applying the gold patch of task %s: %w", t.Task.ID, err)
	}
	made, err := changes(t.Task.Files, t.Patch)
	if err != nil {
		return 0, fmt.Errorf("applying the agent's patch to the snapshot of task %s: %w", t.Task.ID, err)
	}
	return likeness(made, gold)
}

// changes are the diffs that a patch makes, by path; a file that it leaves alike is not
// among them.
func changes(files []schemas.File, patch string) (map[string]string, error) {
	patched, err := sandbox.Apply(files, patch)
	if err != nil {
		return nil, err
	}
	before, after := map[string]string{}, map[string]string{}
	for _, f := range files {
		before[f.Path] = f.Content
	}
	for _, f := range patched {
		after[f.Path] = f.Content
	}
	diffs := map[string]string{}
	for path := range union(before, after) {
		if d := unifiedDiff(before[path], after[path]); d != "" {
			diffs[path] = d
		}
	}
	return diffs, nil
}

// likeness is 1 where neither changes anything.
func likeness(made, gold map[string]string) (float64, error) {
	paths := union(made, gold)
	if len(paths) == 0 {
		return 1, nil
	}
	sum := 0.0
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		a, b := made[path], gold[path]
		if n := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b)); n > similarityLimit {
			return 0, fmt.Errorf("the diff of %s has %d characters, more than the %d that are compared", path, n, similarityLimit)
		}
		if a != "" && b != "" {
			sum += ratio(a, b)
		}
	}
	return sum / float64(len(paths)), nil
}

func union(a, b map[string]string) map[string]bool {
	paths := map[string]bool{}
	for p := range a {
		paths[p] = true
	}
	for p := range b {
		paths[p] = true
	}
	return paths
}
