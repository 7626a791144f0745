package advantage

import (
	"fmt"

	"millrace/schemas"
)

// weighing returns a member of a group of the given size that finished and was
// rewarded: 2 prompt tokens, then 2 sampled ones that tell its rollout.
func weighing(group string, rollout, size int32, reward float64) schemas.Member {
	return schemas.Member{
		Reward: schemas.Reward{
			Trajectory: schemas.Trajectory{
				ID: fmt.Sprintf("%s#%d.0", group, rollout), GroupID: group, Run: "run", Iteration: 4, Rollout: rollout,
				Task:        schemas.Task{ID: "task", Iteration: 4, Rollouts: size},
				Tokens:      []int32{1, 2, 100 + rollout, 3},
				LossMask:    []bool{false, false, true, true},
				LogProbs:    []float32{0, 0, -0.5, -0.25},
				Versions:    []int32{-1, -1, 4, 4},
				Steps:       []schemas.Step{{TokenStart: 2, TokenEnd: 4, Tool: "finish"}},
				Termination: schemas.Finished,
			},
			Value: reward,
		},
		Source: schemas.Position{Topic: "rewarded", Partition: 1, Offset: int64(10 + rollout)},
		Counts: true,
	}
}

// excluded returns a member that ended by a limit; counts as in the published
// recipe, or not.
func excluded(group string, rollout, size int32, reward float64, counts bool) schemas.Member {
	m := weighing(group, rollout, size, reward)
	m.Reward.Trajectory.Termination = schemas.StepLimit
	m.Excluded, m.Counts = string(schemas.StepLimit), counts
	return m
}

// failed returns a tombstone.
func failed(group string, rollout, size int32) schemas.Member {
	m := weighing(group, rollout, size, 0)
	t := &m.Reward.Trajectory
	t.Tokens, t.LossMask, t.LogProbs, t.Versions, t.Steps = nil, nil, nil, nil, nil
	t.Termination, t.Failure = schemas.Failed, "no sandbox"
	m.Reward.Failure = "rollout: no sandbox"
	m.Excluded, m.Counts = string(schemas.Failed), false
	return m
}
