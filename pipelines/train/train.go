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

	before, err := r.evaluate(ctx, 0)
	if err != nil {
		return Result{}, err
	}
	if err := r.train(ctx); err != nil {
		return r.result(before, nil), err
	}
	after, err := r.evaluate(ctx, c.Steps)
	if err != nil {
		return r.result(before, nil), err
	}
	return r.result(before, after), nil
}

func (r *run) result(before, after []evaluate.Rate) Result {
	out := Result{Checkpoint: r.parts.learner.Checkpoint(), Steps: r.parts.learner.Version(), Seed: r.Seed}
	for i := range after {
		out.Evaluations = append(out.Evaluations, SetResult{r.Evaluate.Sets[i].Split, before[i], after[i]})
	}
	return out
}

// train runs the four stages until the learner has taken all steps.
func (r *run) train(ctx context.Context) error {
	var jobs stage.Jobs
	if err := r.start(ctx, &jobs); err != nil {
		return errors.Join(err, jobs.Cancel())
	}
	ctx, stop := jobs.Guard(ctx)
	defer stop()
	reported := make(chan error, 1)
	reportCtx, stopReport := context.WithCancel(ctx)
	defer stopReport()
	go func() { reported <- r.report(reportCtx) }()
	go Watch(ctx, r.RunName(), r.stagesHere(), r.Observer.Stages)

	target, err := r.feed(ctx)
	if err == nil {
		err = r.awaitVersion(ctx, target)
	}
	if err == nil {
		if target < r.Steps {
			stopReport() // the last step may be reported by the run that resumes
		}
		if reportErr := <-reported; reportErr != nil && target == r.Steps {
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
	if target < r.Steps {
		return ErrDrained
	}
	return nil
}

// feed orders iterations until all are ordered or the run is drained, and
// returns how many steps the orders lead to.
func (r *run) feed(ctx context.Context) (int64, error) {
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
	tasks := mine.Select(r.parts.tasks, r.Tasks.Split)
	if len(tasks) < r.Groups {
		return 0, fmt.Errorf("split %q of the task set has %d tasks: fewer than groups_per_step %d", r.Tasks.Split, len(tasks), r.Groups)
	}
	next, err := feed(feeding, r.stream, r.Config, tasks, r.parts.generator.Version, r.parts.learner.Version(), r.Steps, ordered)
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
// the last.
func (r *run) report(ctx context.Context) error {
	known := int64(0)
	for _, s := range r.Recorded.Steps {
		known = max(known, s.Number)
	}
	if known >= r.Steps {
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
			if u.Step <= known {
				continue
			}
			known = u.Step
			metrics := append(u.Metrics, meter.step()...)
			if err := r.Journal.Step(u.Step, time.UnixMicro(u.Finished), metrics); err != nil {
				return err
			}
			byName := make(map[string]float64, len(metrics))
			for _, m := range metrics {
				byName[m.Name] = m.Value
			}
			r.Observer.Step(u.Step, r.Steps, byName)
			r.Observer.Progress(int(u.Step))
		}
		if known >= r.Steps {
			return kafkaio.ErrEnough
		}
		return nil
	})
}
