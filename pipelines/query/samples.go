package query

import (
	"millrace/schemas"
	"millrace/transforms/filter"
)

var sampleColumns = []column[schemas.Sample]{
	text("id", "the trajectory's id", func(s *schemas.Sample) any { return s.ID }),
	text("group_id", "the group it belongs to", func(s *schemas.Sample) any { return s.GroupID }),
	text("task", "the task's id", func(s *schemas.Sample) any { return given(s.TaskID) }),
	integer("iteration", "training iteration that ordered it, from 0", func(s *schemas.Sample) any { return s.Iteration }),
	integer("rollout", "its index in the group, from 0", func(s *schemas.Sample) any { return int64(s.Rollout) }),
	number("reward", "what it counted with; NULL where nothing could be scored", sampleReward),
	number("advantage", "weighs every sampled token that is trained on", func(s *schemas.Sample) any { return s.Advantage }),
	integer("weight", "1 in loss and denominator, else 0", func(s *schemas.Sample) any { return int64(s.Weight) }),
	text("excluded", "why the weight is 0", func(s *schemas.Sample) any { return given(s.Excluded) }),
	text("termination", "why the rollout ended", func(s *schemas.Sample) any { return string(s.Termination) }),
	integer("group_size", "rollouts ordered", func(s *schemas.Sample) any { return int64(s.GroupSize) }),
	integer("group_members", "samples of the group", func(s *schemas.Sample) any { return int64(s.GroupMembers) }),
	integer("group_weighing", "samples of the group with weight 1", func(s *schemas.Sample) any { return int64(s.GroupWeighing) }),
	integer("turns", "turns of the agent", func(s *schemas.Sample) any { return int64(s.Turns) }),
	integer("tokens", "length of the whole sequence", func(s *schemas.Sample) any { return int64(len(s.Tokens)) }),
	integer("trained_tokens", "tokens that the loss sees; 0 where a budget ran out", func(s *schemas.Sample) any { return sampled(s.LossMask) }),
	integer("policy_version", "oldest policy version that sampled a trained token", func(s *schemas.Sample) any { return oldest(s.Versions) }),
	text("tools", "tools called, in order: JSON list", func(s *schemas.Sample) any { return list(s.Tools) }),
}

// sampleReward is NULL where a sample's 0 stands for no reward.
func sampleReward(s *schemas.Sample) any {
	if s.Excluded == string(schemas.Failed) || s.Excluded == filter.Unscored || s.Excluded == string(schemas.NotFinite) {
		return nil
	}
	return s.Reward
}
