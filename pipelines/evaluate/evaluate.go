// Package evaluate scores a policy on tasks it was not trained on, through the
// same stages as training: orders, rollouts and rewards travel over topics of
// their own, and the same sandboxes decide.
package evaluate

import (
	"context"
	"errors"
	"fmt"

	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
	"millrace/transforms/rollout"
)

// Evaluation is what an evaluation needs from its surroundings.
type Evaluation struct {
	Start   stage.Start
	Brokers string
	Topics  stage.TopicSettings
	Worker  *rollout.Worker
	Scorer  stage.Scorer
	// Groups and Scoring bound the orders and the scorings under way at once.
	Groups, Scoring int
}

// Run rolls out each task samples times with the policy of the given version
// and returns a reward for each rollout, in the order they came. The topics are
// named by name; an evaluation that was interrupted goes on where it was.
// report is told how many rewards there are.
func (e Evaluation) Run(ctx context.Context, name, run string, version int64, tasks []schemas.Task, samples int32, report func(done, of int)) ([]schemas.Reward, error) {
	s := stage.Stream{Brokers: e.Brokers, Topics: stage.RolloutTopicsOf(name)}
	if err := stage.Create(ctx, e.Brokers, e.Topics, s.Topics); err != nil {
		return nil, err
	}
	var jobs stage.Jobs
	if err := e.start(ctx, s, name, &jobs); err != nil {
		return nil, errors.Join(err, jobs.Cancel())
	}
	guarded, stop := jobs.Guard(ctx)
	defer stop()
	rewards, err := e.collect(guarded, s, run, version, tasks, samples, report)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("evaluating %s: %w", name, err), jobs.Cancel())
	}
	return rewards, jobs.Drain()
}

func (e Evaluation) start(ctx context.Context, s stage.Stream, name string, jobs *stage.Jobs) error {
	s.Job = name + ".rollout"
	p, forget := stage.Rollout(s, e.Worker, e.Groups)
	if err := jobs.Add(ctx, e.Start, s.Job, p, forget); err != nil {
		return err
	}
	s.Job = name + ".score"
	p, forget = stage.Score(s, e.Scorer, e.Scoring)
	return jobs.Add(ctx, e.Start, s.Job, p, forget)
}

// collect writes the orders that are missing and reads until every rollout has
// left the scorer.
func (e Evaluation) collect(ctx context.Context, s stage.Stream, run string, version int64, tasks []schemas.Task, samples int32, report func(done, of int)) ([]schemas.Reward, error) {
	ordered, err := stage.Ordered(ctx, s, run)
	if err != nil {
		return nil, err
	}
	var orders []schemas.Task
	for _, t := range tasks {
		t.Iteration, t.Rollouts = version, samples
		if !ordered[schemas.GroupID(run, t.ID, version)] {
			orders = append(orders, t)
		}
	}
	if err := stage.Order(ctx, s, run, orders...); err != nil {
		return nil, err
	}
	want := len(tasks) * int(samples)
	seen := map[rolloutKey]bool{} // a crash may have made a rollout twice
	var rewards []schemas.Reward
	err = kafkaio.Scan(ctx, e.Brokers, s.Topics.Rewarded, nil, func(r kafkaio.Record) error {
		rows, err := schemas.Rewards.Decode(r.Value)
		if err != nil {
			return err
		}
		for _, row := range rows {
			key := rolloutKey{row.Trajectory.GroupID, row.Trajectory.Rollout}
			if !seen[key] {
				seen[key] = true
				rewards = append(rewards, row)
			}
		}
		report(len(rewards), want)
		if len(rewards) >= want {
			return kafkaio.ErrEnough
		}
		return nil
	})
	return rewards, err
}

type rolloutKey struct {
	group   string
	rollout int32
}
