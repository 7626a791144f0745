package schemas

// Sample is a trajectory with reward and advantage, ready to train on.
//
// One sample leaves the advantage stage for every member of a group that
// arrived. A member that must not be trained on has Weight 0 and says why in
// Excluded; it is kept so that the learner can count a group complete and
// nothing vanishes (invariants 6 and 7).
type Sample struct {
	// ID is the trajectory's ID.
	ID        string
	GroupID   string
	TaskID    string
	Run       string
	Iteration int64
	Rollout   int32
	Tokens    []int32
	LossMask  []bool
	LogProbs  []float32
	Versions  []int32
	Reward    float64
	// Advantage weighs every mask-true token of the sample.
	Advantage float64
	// Weight is 1 for a sample that enters loss and denominator, else 0.
	Weight float32
	// Excluded is empty when Weight is 1, else the reason ("context", "steps",
	// "time", "failed", [EqualRewards], ...).
	Excluded    string
	Termination Termination
	// GroupMembers is the number of samples that the group left as; GroupWeighing
	// the number of those with Weight 1; GroupSize the number ordered.
	GroupMembers, GroupWeighing, GroupSize int32
	// Turns is the number of agent turns.
	Turns int32
	// Tools are the tools called, in order.
	Tools []string
}

// EqualRewards is Sample.Excluded of a group whose rewards are all equal, where such
// groups are not trained on (dynamic sampling).
const EqualRewards = "equal_rewards"

// Samples is the codec of Sample.
var Samples = newCodec("sample", sampleColumns)

var sampleColumns = []column[Sample]{
	text("id", func(s *Sample) *string { return &s.ID }),
	text("group_id", func(s *Sample) *string { return &s.GroupID }),
	text("task_id", func(s *Sample) *string { return &s.TaskID }),
	text("run", func(s *Sample) *string { return &s.Run }),
	i64("iteration", func(s *Sample) *int64 { return &s.Iteration }),
	i32("rollout", func(s *Sample) *int32 { return &s.Rollout }),
	i32s("tokens", func(s *Sample) *[]int32 { return &s.Tokens }),
	bools("loss_mask", func(s *Sample) *[]bool { return &s.LossMask }),
	f32s("log_probs", func(s *Sample) *[]float32 { return &s.LogProbs }),
	i32s("versions", func(s *Sample) *[]int32 { return &s.Versions }),
	f64("reward", func(s *Sample) *float64 { return &s.Reward }),
	f64("advantage", func(s *Sample) *float64 { return &s.Advantage }),
	f32("weight", func(s *Sample) *float32 { return &s.Weight }),
	text("excluded", func(s *Sample) *string { return &s.Excluded }),
	text("termination", func(s *Sample) *Termination { return &s.Termination }),
	i32("group_members", func(s *Sample) *int32 { return &s.GroupMembers }),
	i32("group_weighing", func(s *Sample) *int32 { return &s.GroupWeighing }),
	i32("group_size", func(s *Sample) *int32 { return &s.GroupSize }),
	i32("turns", func(s *Sample) *int32 { return &s.Turns }),
	texts("tools", func(s *Sample) *[]string { return &s.Tools }),
}

// Validate checks the contract: ids, token columns of equal length that agree
// with the mask, finite numbers, a Weight of 0 or 1 that is 0 exactly when the
// sample is Excluded, a known termination reason, and
// 0 <= GroupWeighing <= GroupMembers <= GroupSize with at least one member.
func (s Sample) Validate() error {
	c := &contract{schema: "sample", id: s.ID}
	c.name("ID", s.ID)
	c.name("GroupID", s.GroupID)
	c.utf8("TaskID", s.TaskID)
	c.utf8("Run", s.Run)
	c.notNegative("Iteration", s.Iteration)
	c.notNegative("Rollout", int64(s.Rollout))
	c.tokens(s.Tokens, s.LossMask, s.LogProbs, s.Versions)
	c.finite("Reward", s.Reward)
	c.finite("Advantage", s.Advantage)
	if s.Weight != 0 && s.Weight != 1 {
		c.fail(Invalid, "Weight", "is %v, neither 0 nor 1", s.Weight)
	}
	if (s.Weight == 0) != (s.Excluded != "") {
		c.fail(Invalid, "Excluded", "is %q with weight %v", s.Excluded, s.Weight)
	}
	c.termination("Termination", s.Termination)
	if s.GroupMembers < 1 || s.GroupWeighing < 0 || s.GroupWeighing > s.GroupMembers || s.GroupMembers > s.GroupSize {
		c.fail(Invalid, "GroupMembers", "is %d of %d ordered, %d weighing", s.GroupMembers, s.GroupSize, s.GroupWeighing)
	}
	c.notNegative("Turns", int64(s.Turns))
	return c.err()
}
