// Package train is the streaming pipeline: an endless loop of rollouts and
// updates, evaluated before and after, restartable at any moment.
package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"millrace/pipelines/evaluate"
	"millrace/pipelines/journal"
	"millrace/pipelines/mine"
	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
	"millrace/transforms/learn"
)

// Environment is what a run needs from its surroundings.
type Environment struct {
	// Dir is the run directory: checkpoints, caches, journal.
	Dir string
	// GoCache is the warm Go build cache shown to the sandboxes.
	GoCache string
	// Brokers is "host:port[,host:port...]".
	Brokers string
	// Start runs pipelines in this process, Cluster on the cluster that Flink of
	// the configuration names; nil when Runner is Embedded.
	Start    stage.Start
	Cluster  stage.Start
	Observer Observer
	Journal  *journal.Journal
	// Begin is called when all that the configuration names is open, and before
	// anything is done with it.
	Begin func() error
	// Recorded is what the journal holds of an earlier part of this run.
	Recorded journal.Record
	// Drain is closed when the run shall finish what it has begun and stop.
	Drain <-chan struct{}
}

// ErrDrained is returned by a run that was asked to stop before its last step.
// Everything it had begun is committed; the run can be resumed.
var ErrDrained = errors.New("drained")

// run is one run under way.
type run struct {
	Config
	Environment
	stream stage.Stream
	parts  *parts
	told   int64 // the last step that the journal holds
}

// Run trains: it evaluates the starting policy, runs the stages until the
// learner has taken all steps, and evaluates the result. A run that was
// interrupted goes on where its checkpoint, topics and journal are. It returns
// ErrDrained, with the result so far, if it was drained.
func Run(ctx context.Context, c Config, env Environment) (_ Result, err error) {
	if err := c.Validate(); err != nil {
		return Result{}, err
	}
	r := &run{Config: c, Environment: env, stream: stage.Stream{Brokers: env.Brokers, Topics: stage.TopicsOf(c.RunName())}}
	for _, s := range env.Recorded.Steps {
		r.told = max(r.told, s.Number)
	}
	if err := stage.Create(ctx, env.Brokers, c.Kafka.Topics(), r.stream.Topics); err != nil {
		return Result{}, err
	}
	if r.parts, err = open(ctx, c, env, r.stream); err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, r.parts.Close()) }()
	if err := env.Begin(); err != nil {
		return Result{}, err
	}
	env.Observer.Note(r.parts.sandboxes.Describe())
	env.Observer.Note(r.parts.device.String())

	before, err := r.evaluate(ctx, 0)
	if err != nil {
		return Result{}, err
	}
	after := before
	for _, step := range r.evaluated() {
		if r.parts.learner.Version() > step {
			continue // evaluate.every was another when the run came by
		}
		if err := r.train(ctx, step); err != nil {
			return r.result(before, nil), err
		}
		if after, err = r.evaluate(ctx, step); err != nil {
			return r.result(before, nil), err
		}
	}
	return r.result(before, after), nil
}

// evaluated are the steps after which the policy is evaluated, in order; the last
// is the run's last.
func (r *run) evaluated() []int64 {
	var steps []int64
	for step := r.Evaluate.Every; 0 < step && step < r.Steps; step += r.Evaluate.Every {
		steps = append(steps, step)
	}
	return append(steps, r.Steps)
}

func (r *run) result(before, after []evaluate.Rate) Result {
	out := Result{Checkpoint: r.parts.learner.Checkpoint(), Steps: r.parts.learner.Version(), Seed: r.Seed}
	for i := range after {
		out.Evaluations = append(out.Evaluations, SetResult{r.Evaluate.Sets[i].Split, before[i], after[i]})
	}
	return out
}

// train runs the four stages until the learner has taken the steps up to last.
func (r *run) train(ctx context.Context, last int64) error {
	if r.parts.learner.Version() >= last && r.told >= last {
		return nil
	}
	tasks, err := r.trained()
	if err != nil {
		return err
	}
	var jobs stage.Jobs
	if err := r.start(ctx, &jobs); err != nil {
		return errors.Join(err, jobs.Cancel())
	}
	ctx, stop := jobs.Guard(ctx)
	defer stop()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	go func() {
		if err := r.refill(ctx, tasks); err != nil {
			fail(err)
		}
	}()
	reported := make(chan error, 1)
	reportCtx, stopReport := context.WithCancel(ctx)
	defer stopReport()
	go func() { reported <- r.report(reportCtx, last) }()
	go Watch(ctx, r.RunName(), r.stagesHere(), r.Observer.Stages)

	target, err := r.feed(ctx, tasks, last)
	if err == nil {
		err = r.awaitVersion(ctx, target)
	}
	if err == nil {
		if target < last {
			stopReport() // the last step may be reported by the run that resumes
		}
		if reportErr := <-reported; reportErr != nil && target == last {
			err = reportErr
		}
	}
	if err != nil {
		return errors.Join(err, jobs.Cancel())
	}
	// Every order has become a step: nothing is under way that draining would
	// have to wait for, and open groups there are none.
	if err := jobs.Cancel(); err != nil {
		return err
	}
	if target < last {
		return ErrDrained
	}
	return nil
}

// trained are the tasks that are trained on. There are enough that an iteration orders
// none twice, whatever it has to replace.
func (r *run) trained() ([]schemas.Task, error) {
	tasks := mine.Select(r.parts.tasks, r.Tasks.Split)
	if len(tasks) < r.Groups*r.MaxDraws() {
		return nil, fmt.Errorf("split %q of the task set has %d tasks: fewer than groups_per_step %d times algorithm.max_draws %d",
			r.Tasks.Split, len(tasks), r.Groups, r.MaxDraws())
	}
	return tasks, nil
}

// feed orders the iterations before last until all are ordered or the run is
// drained, and returns how many steps the orders lead to.
func (r *run) feed(ctx context.Context, tasks []schemas.Task, last int64) (int64, error) {
	feeding, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-r.Drain:
			stop(ErrDrained)
		case <-feeding.Done():
		}
	}()
	ordered, err := stage.Ordered(feeding, r.stream, r.RunName())
	if err != nil {
		return 0, err
	}
	next, err := feed(feeding, r.stream, r.Config, tasks, r.parts.generator.Version, r.parts.learner.Version(), last, ordered)
	if errors.Is(err, ErrDrained) {
		r.Observer.Note("draining: finishing what has begun")
		err = nil
	}
	return next, err
}

// awaitVersion waits until the learner has taken a step.
func (r *run) awaitVersion(ctx context.Context, version int64) error {
	for r.parts.learner.Version() < version {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(admissionPoll):
		}
	}
	return nil
}

// start starts the stages, downstream first, so that nothing waits for a reader.
func (r *run) start(ctx context.Context, jobs *stage.Jobs) error {
	name := r.RunName()
	s := r.stream
	s.Job = name + ".learn"
	forget, err := learn.Register(s.Job, r.parts.learner)
	if err != nil {
		return err
	}
	if err := jobs.Add(ctx, r.Start, s.Job, stage.Learn(s, r.parts.learner.Positions()), forget); err != nil {
		return err
	}
	if r.Cluster != nil {
		s.Poll = r.Flink.Poll
	}
	s.Job = name + ".advantage"
	filtering, grouping := r.Selection()
	if err := jobs.Add(ctx, r.runner(), s.Job, stage.Advantage(s, filtering, grouping), func() {}); err != nil {
		return err
	}
	if r.Cluster != nil {
		return r.startElsewhere(ctx, jobs)
	}
	s.Job = name + ".score"
	p, forget := stage.Score(s, r.parts.reward, r.scoring())
	if err := jobs.Add(ctx, r.Start, s.Job, p, forget); err != nil {
		return err
	}
	worker, err := r.parts.worker(r.Config, r.Rollout.Temperature, r.Seed, r.MaxStaleness)
	if err != nil {
		return err
	}
	s.Job = name + ".rollout"
	p, forget = stage.Rollout(s, worker, r.Groups)
	return jobs.Add(ctx, r.Start, s.Job, p, forget)
}

// scoring is the number of trajectories scored at once: most hit the cache, and
// the sandboxes bound the rest themselves.
func (r *run) scoring() int { return r.Rollout.Concurrency }

// report follows the ledger and tells journal and observer of each step, until
// last.
func (r *run) report(ctx context.Context, last int64) error {
	if r.told >= last {
		return nil
	}
	r.Observer.Phase("training", int(r.Steps))
	meter := newMeter(r.parts)
	return kafkaio.Scan(ctx, r.Brokers, r.stream.Topics.Ledger, nil, func(record kafkaio.Record) error {
		updates, err := schemas.Updates.Decode(record.Value)
		if err != nil {
			return fmt.Errorf("reading the ledger: %w", err)
		}
		for _, u := range updates {
			if u.Step <= r.told {
				continue
			}
			metrics := append(u.Metrics, meter.step()...)
			if err := r.Journal.Step(u.Step, time.UnixMicro(u.Finished), metrics); err != nil {
				return err
			}
			r.told = u.Step
			byName := make(map[string]float64, len(metrics))
			for _, m := range metrics {
				byName[m.Name] = m.Value
			}
			r.Observer.Step(u.Step, r.Steps, byName)
			r.Observer.Progress(int(u.Step))
		}
		if r.told >= last {
			return kafkaio.ErrEnough
		}
		return nil
	})
}
