package schemas

import "fmt"

// Reward is what scoring gave a trajectory. Exactly one of two things is true:
// Failure is empty and Value is the reward, or Failure is set and Value is 0
// and meaningless (invariant 1: no failure becomes a reward).
type Reward struct {
	Trajectory Trajectory
	// Value is 1 when every fail-to-pass and pass-to-pass test passed, else 0,
	// or whatever another scorer gives.
	Value float64
	// Failure is the reason why the trajectory could not be scored.
	Failure string
	// Passed and FailedTests are the expected tests by result; a test missing
	// from the output is in FailedTests.
	Passed, FailedTests []string
	// Output is the tail of the test command's output.
	Output string
	// Cached is true when the result was recorded for an equal (task, patch).
	Cached bool
	// Duration is the time scoring took, in microseconds.
	Duration int64
	// Parts are the rewards that Value is the weighted sum of, in the order of the
	// configuration; empty where one reward is all, and in version 1.
	Parts []RewardPart
}

// RewardPart is one of several rewards: its name ("tests", "similarity", ...), what
// it came to, and the weight that it has in the sum.
type RewardPart struct {
	Name          string
	Value, Weight float64
}

// Rewards is the codec of Reward.
var Rewards = newCodec("reward", rewardColumns, rewardColumnsV2, rewardColumnsV3)

var rewardPartColumns = []column[RewardPart]{
	text("name", func(p *RewardPart) *string { return &p.Name }),
	f64("value", func(p *RewardPart) *float64 { return &p.Value }),
	f64("weight", func(p *RewardPart) *float64 { return &p.Weight }),
}

var rewardColumns = rewardOf(trajectoryColumns)

// Version 2 has trajectories of version 2, and rewards of several parts.
var rewardColumnsV2 = append(rewardOf(trajectoryColumnsV2), partsColumn)

// Version 3 has trajectories of version 3.
var rewardColumnsV3 = append(rewardOf(trajectoryColumnsV3), partsColumn)

var partsColumn = structs("parts", func(r *Reward) *[]RewardPart { return &r.Parts }, rewardPartColumns)

func rewardOf(trajectory []column[Trajectory]) []column[Reward] {
	return []column[Reward]{
		nested("trajectory", func(r *Reward) *Trajectory { return &r.Trajectory }, trajectory),
		f64("value", func(r *Reward) *float64 { return &r.Value }),
		text("failure", func(r *Reward) *string { return &r.Failure }),
		texts("passed", func(r *Reward) *[]string { return &r.Passed }),
		texts("failed_tests", func(r *Reward) *[]string { return &r.FailedTests }),
		text("output", func(r *Reward) *string { return &r.Output }),
		boolean("cached", func(r *Reward) *bool { return &r.Cached }),
		i64("duration_us", func(r *Reward) *int64 { return &r.Duration }),
	}
}

// Validate checks the contract: a valid trajectory, a finite Value that is 0
// when there is a Failure, and a Failure when the trajectory itself failed
// (invariant 1: no failure becomes a reward).
func (r Reward) Validate() error {
	c := &contract{schema: "reward", id: r.Trajectory.ID}
	r.check(c, "")
	return c.err()
}

func (r *Reward) check(c *contract, prefix string) {
	r.Trajectory.check(c, prefix+"Trajectory.")
	c.finite(prefix+"Value", r.Value)
	if r.Failure != "" && r.Value != 0 {
		c.fail(Invalid, prefix+"Value", "is %v although scoring failed: %s", r.Value, r.Failure)
	}
	if r.Trajectory.Termination == Failed && r.Failure == "" {
		c.fail(Invalid, prefix+"Failure", "is empty although the trajectory failed: %s", r.Trajectory.Failure)
	}
	c.notNegative(prefix+"Duration", r.Duration)
	for i, p := range r.Parts {
		c.name(fmt.Sprintf("%sParts[%d].Name", prefix, i), p.Name)
		c.finite(fmt.Sprintf("%sParts[%d].Value", prefix, i), p.Value)
		c.finite(fmt.Sprintf("%sParts[%d].Weight", prefix, i), p.Weight)
	}
}
