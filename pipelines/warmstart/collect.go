package warmstart

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"millrace/kernels/tokenizer"
	"millrace/schemas"
	"millrace/transforms/inject"
	"millrace/transforms/rollout"
	"millrace/transforms/sandbox"
)

// Collection are the settings of collecting demonstrations.
type Collection struct {
	// PerTask is the number of rollouts of the expert on each task.
	PerTask int32 `yaml:"per_task"`
	// Drills is the number of drills on each task: rollouts that only edit and
	// undo. Snippets is the number of functions of the standard library with one
	// drill each.
	Drills   int32 `yaml:"drills"`
	Snippets int   `yaml:"snippets"`
	// Concurrency bounds the rollouts that run at once.
	Concurrency int    `yaml:"concurrency"`
	Habits      Habits `yaml:"habits"`
	// Kinds are the faults that are repaired, and the edits the expert tries.
	Kinds []inject.Kind `yaml:"kinds"`
}

// Collect runs the expert on every task, in sandboxes, with the real tools, and
// returns its finished rollouts sorted by task and rollout. The agent's context
// limit counts tokens of t, which need not be the policy's later tokenizer.
func Collect(ctx context.Context, tasks []schemas.Task, t *tokenizer.Tokenizer, boxes sandbox.Provider, agent rollout.Config, c Collection, report func(done, of int)) ([]Demonstration, error) {
	a, err := rollout.NewAgent(NewPolicy(t, c.Habits, c.Kinds), t, boxes, agent)
	if err != nil {
		return nil, err
	}
	worker, err := rollout.NewWorker(a, "warmstart", c.Concurrency, 0)
	if err != nil {
		return nil, err
	}
	var trajectories []schemas.Trajectory
	for i, task := range tasks {
		task.Rollouts = c.PerTask
		var failure error
		err := worker.Do(ctx, task, schemas.Position{}, rollout.Emit{
			Trajectory: func(t schemas.Trajectory) { trajectories = append(trajectories, t) },
			DeadLetter: func(d schemas.DeadLetter) {
				failure = fmt.Errorf("demonstration of task %s: %s", task.ID, d.Message)
			},
		})
		if err := errors.Join(err, failure); err != nil {
			return nil, err
		}
		report(i+1, len(tasks))
	}
	sort.Slice(trajectories, func(i, j int) bool {
		a, b := trajectories[i], trajectories[j]
		if a.Task.ID != b.Task.ID {
			return a.Task.ID < b.Task.ID
		}
		return a.Rollout < b.Rollout
	})
	var out []Demonstration
	for _, trajectory := range trajectories {
		if trajectory.Termination != schemas.Finished {
			continue // the expert ran into a limit: nothing to learn from
		}
		system, user, err := a.Prompt(trajectory.Task)
		if err != nil {
			return nil, err
		}
		out = append(out, demonstration([]Message{{"system", system}, {"user", user}}, trajectory))
	}
	return out, nil
}
