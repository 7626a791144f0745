package query

import "millrace/schemas"

// turn is one turn of a trajectory.
type turn struct {
	reward *schemas.Reward
	index  int // from 0
}

func (t *turn) step() *schemas.Step { return &t.reward.Trajectory.Steps[t.index] }

// versions are those of the tokens sampled in the turn.
func (t *turn) versions() []int32 {
	return t.reward.Trajectory.Versions[t.step().TokenStart:t.step().TokenEnd]
}

func turns(r schemas.Reward) []turn {
	out := make([]turn, len(r.Trajectory.Steps))
	for i := range out {
		out[i] = turn{&r, i}
	}
	return out
}

var turnColumns = []column[turn]{
	text("trajectory", "the trajectory's id", func(t *turn) any { return t.reward.Trajectory.ID }),
	integer("turn", "its number in the trajectory, from 1", func(t *turn) any { return int64(t.index + 1) }),
	text("task", "the task's id", func(t *turn) any { return t.reward.Trajectory.Task.ID }),
	integer("iteration", "training iteration of the trajectory", func(t *turn) any { return t.reward.Trajectory.Iteration }),
	number("reward", "reward of the trajectory; NULL where nothing could be scored", func(t *turn) any { return reward(t.reward) }),
	text("tool", "tool called, with its command; NULL where no call was found", func(t *turn) any { return given(t.step().Tool) }),
	text("action", "the sampled text", func(t *turn) any { return t.step().Action }),
	text("observation", "the text shown to the agent in answer", func(t *turn) any { return t.step().Observation }),
	integer("exit_code", "exit status of the command, -1 where it did not exit by itself", func(t *turn) any { return int64(t.step().ExitCode) }),
	integer("sampled_tokens", "tokens sampled in the turn", func(t *turn) any { return int64(t.step().TokenEnd - t.step().TokenStart) }),
	integer("policy_version", "oldest policy version that sampled a token of the turn", func(t *turn) any { return oldest(t.versions()) }),
	number("sampling_seconds", "time spent sampling", func(t *turn) any { return float64(t.step().Sampling) / 1e6 }),
	number("acting_seconds", "time spent in the sandbox", func(t *turn) any { return float64(t.step().Acting) / 1e6 }),
}
