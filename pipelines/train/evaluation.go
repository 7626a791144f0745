package train

import (
	"context"
	"fmt"
	"time"

	"millrace/pipelines/evaluate"
	"millrace/pipelines/mine"
)

// evaluate scores the policy of a step on every held-out set and records it. An
// evaluation that the journal holds is not made again.
func (r *run) evaluate(ctx context.Context, step int64) ([]evaluate.Rate, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-r.Drain:
			cancel(ErrDrained)
		case <-ctx.Done():
		}
	}()
	var rates []evaluate.Rate
	for _, set := range r.Evaluate.Sets {
		rate, ok := r.recorded(set, step)
		if !ok {
			var err error
			if rate, err = r.evaluateSet(ctx, set, step); err != nil {
				return nil, err
			}
		}
		r.Observer.Note(fmt.Sprintf("step %d  %s pass@1 %.3f (95%% CI %.3f..%.3f, %d tasks, n=%d, temperature %g)",
			step, set.Split, rate.Mean, rate.Low, rate.High, rate.Tasks, rate.Rollouts, r.Evaluate.Temperature))
		rates = append(rates, rate)
	}
	return rates, nil
}

func (r *run) recorded(set EvaluationSet, step int64) (evaluate.Rate, bool) {
	for _, e := range r.Recorded.Evaluations {
		if e.Step == step && e.Set == set.Split {
			return evaluate.Rate{Mean: e.Pass1.Mean, Low: e.Pass1.Low, High: e.Pass1.High, Tasks: e.Tasks, Rollouts: e.Rollouts}, true
		}
	}
	return evaluate.Rate{}, false
}

// evaluationSeed keeps the random numbers of evaluation the same in every run:
// seeds of training are compared on the same draws.
const evaluationSeed = 1

func (r *run) evaluateSet(ctx context.Context, set EvaluationSet, step int64) (evaluate.Rate, error) {
	tasks := mine.Select(r.parts.tasks, set.Split)
	if len(tasks) == 0 {
		return evaluate.Rate{}, fmt.Errorf("evaluate.sets: the task set has no split %q", set.Split)
	}
	if set.Tasks > 0 && set.Tasks < len(tasks) {
		tasks = spread(tasks, set.Tasks)
	}
	worker, err := r.parts.worker(r.Config, r.Evaluate.Temperature, evaluationSeed, 0)
	if err != nil {
		return evaluate.Rate{}, err
	}
	r.Observer.Phase(fmt.Sprintf("evaluating %s at step %d", set.Split, step), len(tasks)*int(set.Samples))
	e := evaluate.Evaluation{
		Start: r.Start, Brokers: r.Brokers, Topics: r.Kafka.Topics(),
		Worker: worker, Scorer: r.parts.verdict, Groups: len(tasks), Scoring: r.scoring(),
	}
	name := fmt.Sprintf("%s.eval-%d.%s", r.RunName(), step, set.Split)
	rewards, err := e.Run(ctx, name, r.RunName(), step, tasks, set.Samples, func(done, _ int) { r.Observer.Progress(done) })
	if err != nil {
		return evaluate.Rate{}, err
	}
	rate := evaluate.Pass(evaluate.Outcomes(rewards), 1, evaluationSeed)
	record := evaluationRecord(set, step, r.Evaluate.Temperature, rate, rewards)
	record.Time = time.Now()
	return rate, r.Journal.Evaluation(record)
}

// spread picks n of the items at even distances, so that a part of a sorted set
// stands for the whole.
func spread[T any](items []T, n int) []T {
	out := make([]T, 0, n)
	for i := range n {
		out = append(out, items[i*len(items)/n])
	}
	return out
}
