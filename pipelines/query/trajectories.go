package query

import (
	"math"
	"slices"
	"strings"

	"millrace/schemas"
)

// rolloutColumns are what a trajectory tells by itself.
var rolloutColumns = []column[schemas.Trajectory]{
	text("id", "the trajectory's id", func(t *schemas.Trajectory) any { return t.ID }),
	text("group_id", "the group it belongs to", func(t *schemas.Trajectory) any { return t.GroupID }),
	text("task", "the task's id", func(t *schemas.Trajectory) any { return t.Task.ID }),
	text("repo", "the code base of the task", func(t *schemas.Trajectory) any { return given(t.Task.Repo) }),
	text("split", "the task set's split", func(t *schemas.Trajectory) any { return given(t.Task.Split) }),
	text("image", "container image of the snapshot; NULL where the task holds files", func(t *schemas.Trajectory) any { return given(t.Task.Image) }),
	text("image_digest", "digest of that image's content; NULL without one, and where it was not recorded", func(t *schemas.Trajectory) any { return given(t.ImageDigest) }),
	integer("iteration", "training iteration that ordered it, from 0", func(t *schemas.Trajectory) any { return t.Iteration }),
	integer("rollout", "its index in the group, from 0", func(t *schemas.Trajectory) any { return int64(t.Rollout) }),
	integer("attempt", "infrastructure retries before it", func(t *schemas.Trajectory) any { return int64(t.Attempt) }),
	text("termination", "why it ended: finished, context, steps, time, action_time, malformed, failed", func(t *schemas.Trajectory) any { return string(t.Termination) }),
	integer("turns", "turns of the agent", func(t *schemas.Trajectory) any { return int64(len(t.Steps)) }),
	integer("tokens", "length of the whole sequence", func(t *schemas.Trajectory) any { return int64(len(t.Tokens)) }),
	integer("sampled_tokens", "tokens that the policy sampled", func(t *schemas.Trajectory) any { return sampled(t.LossMask) }),
	integer("policy_version", "oldest policy version that sampled a token", func(t *schemas.Trajectory) any { return oldest(t.Versions) }),
	integer("policy_version_last", "newest policy version that sampled a token", func(t *schemas.Trajectory) any { return newest(t.Versions) }),
	text("tools", "tools called, in order: JSON list", func(t *schemas.Trajectory) any { return list(tools(t.Steps)) }),
	text("patch", "unified diff against the snapshot; NULL where nothing was changed", func(t *schemas.Trajectory) any { return given(strings.ToValidUTF8(t.Patch, "\uFFFD")) }),
	text("started", "time in UTC", func(t *schemas.Trajectory) any { return timestamp(t.Started) }),
	text("finished", "time in UTC", func(t *schemas.Trajectory) any { return timestamp(t.Finished) }),
	number("seconds", "duration of the rollout", func(t *schemas.Trajectory) any { return seconds(t.Started, t.Finished) }),
}

var unscoredColumns = append(slices.Clip(rolloutColumns),
	text("failure", "why the infrastructure lost it", func(t *schemas.Trajectory) any { return given(t.Failure) }))

var trajectoryColumns = append(of(rolloutColumns, func(r *schemas.Reward) *schemas.Trajectory { return &r.Trajectory }),
	number("reward", "NULL where nothing could be scored", reward),
	text("failure", "why there is no reward", func(r *schemas.Reward) any { return given(r.Failure) }),
	text("tests_passed", "expected tests that passed: JSON list", func(r *schemas.Reward) any { return list(r.Passed) }),
	text("tests_failed", "expected tests that did not: JSON list", func(r *schemas.Reward) any { return list(r.FailedTests) }),
	text("test_output", "tail of the hidden tests' output", func(r *schemas.Reward) any { return given(r.Output) }),
	integer("cached", "1 where the test result was known", func(r *schemas.Reward) any { return flag(r.Cached) }),
	number("scoring_seconds", "duration of the scoring", func(r *schemas.Reward) any { return float64(r.Duration) / 1e6 }),
)

var filteredColumns = append(of(trajectoryColumns, func(m *schemas.Member) *schemas.Reward { return &m.Reward }),
	text("excluded", "why it is not trained on", func(m *schemas.Member) any { return given(m.Excluded) }),
	integer("counts", "1 where it is in its group's baseline and in the loss's denominator", func(m *schemas.Member) any { return flag(m.Counts) }),
)

// reward is NULL for a failure: no failure becomes a reward (invariant 1), in an
// average neither.
func reward(r *schemas.Reward) any {
	if r.Failure != "" {
		return nil
	}
	return r.Value
}

func sampled(mask []bool) any {
	n := int64(0)
	for _, m := range mask {
		if m {
			n++
		}
	}
	return n
}

// oldest is the least version of a sampled token, NULL if none was sampled.
func oldest(versions []int32) any {
	least := int32(math.MaxInt32)
	for _, v := range versions {
		if v >= 0 {
			least = min(least, v)
		}
	}
	if least == math.MaxInt32 {
		return nil
	}
	return int64(least)
}

func newest(versions []int32) any {
	most := int32(-1)
	for _, v := range versions {
		most = max(most, v)
	}
	if most < 0 {
		return nil
	}
	return int64(most)
}

func tools(steps []schemas.Step) []string {
	var names []string
	for _, s := range steps {
		if s.Tool != "" {
			names = append(names, s.Tool)
		}
	}
	return names
}
