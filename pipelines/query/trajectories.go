package query

import (
	"math"
	"strings"

	"millrace/schemas"
)

var trajectoryColumns = []column[schemas.Reward]{
	text("id", "the trajectory's id", func(r *schemas.Reward) any { return r.Trajectory.ID }),
	text("group_id", "the group it belongs to", func(r *schemas.Reward) any { return r.Trajectory.GroupID }),
	text("task", "the task's id", func(r *schemas.Reward) any { return r.Trajectory.Task.ID }),
	text("repo", "the code base of the task", func(r *schemas.Reward) any { return given(r.Trajectory.Task.Repo) }),
	text("split", "the task set's split", func(r *schemas.Reward) any { return given(r.Trajectory.Task.Split) }),
	text("image", "container image of the snapshot; NULL where the task holds files", func(r *schemas.Reward) any { return given(r.Trajectory.Task.Image) }),
	integer("iteration", "training iteration that ordered it, from 0", func(r *schemas.Reward) any { return r.Trajectory.Iteration }),
	integer("rollout", "its index in the group, from 0", func(r *schemas.Reward) any { return int64(r.Trajectory.Rollout) }),
	integer("attempt", "infrastructure retries before it", func(r *schemas.Reward) any { return int64(r.Trajectory.Attempt) }),
	number("reward", "NULL where nothing could be scored", reward),
	text("termination", "why it ended: finished, context, steps, time, action_time, malformed, failed", func(r *schemas.Reward) any { return string(r.Trajectory.Termination) }),
	text("failure", "why there is no reward", func(r *schemas.Reward) any { return given(r.Failure) }),
	integer("turns", "turns of the agent", func(r *schemas.Reward) any { return int64(len(r.Trajectory.Steps)) }),
	integer("tokens", "length of the whole sequence", func(r *schemas.Reward) any { return int64(len(r.Trajectory.Tokens)) }),
	integer("sampled_tokens", "tokens that the policy sampled", func(r *schemas.Reward) any { return sampled(r.Trajectory.LossMask) }),
	integer("policy_version", "oldest policy version that sampled a token", func(r *schemas.Reward) any { return oldest(r.Trajectory.Versions) }),
	integer("policy_version_last", "newest policy version that sampled a token", func(r *schemas.Reward) any { return newest(r.Trajectory.Versions) }),
	text("tools", "tools called, in order: JSON list", func(r *schemas.Reward) any { return list(tools(r.Trajectory.Steps)) }),
	text("patch", "unified diff against the snapshot; NULL where nothing was changed", func(r *schemas.Reward) any { return given(strings.ToValidUTF8(r.Trajectory.Patch, "\uFFFD")) }),
	text("tests_passed", "expected tests that passed: JSON list", func(r *schemas.Reward) any { return list(r.Passed) }),
	text("tests_failed", "expected tests that did not: JSON list", func(r *schemas.Reward) any { return list(r.FailedTests) }),
	text("test_output", "tail of the hidden tests' output", func(r *schemas.Reward) any { return given(r.Output) }),
	integer("cached", "1 where the test result was known", func(r *schemas.Reward) any { return flag(r.Cached) }),
	text("started", "time in UTC", func(r *schemas.Reward) any { return timestamp(r.Trajectory.Started) }),
	text("finished", "time in UTC", func(r *schemas.Reward) any { return timestamp(r.Trajectory.Finished) }),
	number("seconds", "duration of the rollout", func(r *schemas.Reward) any { return seconds(r.Trajectory.Started, r.Trajectory.Finished) }),
	number("scoring_seconds", "duration of the scoring", func(r *schemas.Reward) any { return float64(r.Duration) / 1e6 }),
}

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
