package advantage_test

import (
	"fmt"

	"millrace/schemas"
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
)

// A group of four: two solved the task, one ran out of steps, one out of time. By
// default the last is left out; as DeepSWE published it, it counts as unsolved.
func ExampleAssign() {
	for _, recipe := range []struct{ name, mode, estimator string }{
		{"grpo++", filter.Compact, "leave-one-out"},
		{"deepswe", filter.CompactPublished, "leave-one-out-published"},
	} {
		var group []schemas.Member
		for i, rollout := range []struct {
			reward      float64
			termination schemas.Termination
		}{{1, schemas.Finished}, {1, schemas.Finished}, {0, schemas.StepLimit}, {0, schemas.TimeLimit}} {
			m := schemas.Member{Reward: schemas.Reward{
				Value: rollout.reward,
				Trajectory: schemas.Trajectory{
					ID: fmt.Sprintf("g#%d.0", i), GroupID: "g", Rollout: int32(i), Termination: rollout.termination,
					Task: schemas.Task{ID: "t", Rollouts: 4},
				},
			}}
			m.Excluded, m.Counts = filter.Decide(filter.Config{Mode: recipe.mode}, m.Reward)
			group = append(group, m)
		}
		samples, _ := advantage.Assign(advantage.Config{Estimator: recipe.estimator}, group)
		fmt.Print(recipe.name)
		for _, s := range samples {
			fmt.Printf("  %+.2f weight %v", s.Advantage, s.Weight)
		}
		fmt.Println()
	}
	// Output:
	// grpo++  +0.50 weight 1  +0.50 weight 1  -1.00 weight 1  +0.00 weight 0
	// deepswe  +0.67 weight 1  +0.67 weight 1  -0.67 weight 1  -0.67 weight 1
}
