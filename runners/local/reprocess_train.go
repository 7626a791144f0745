package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"millrace/pipelines/journal"
	"millrace/pipelines/reprocess"
	"millrace/pipelines/settings"
	"millrace/pipelines/stage"
	"millrace/pipelines/train"
	"millrace/schemas"
	"millrace/transforms/learn"
)

// train takes the samples through a learner, into a run directory like that of
// "millrace train".
func (p *reprocessing) train(ctx context.Context, in *input, job reprocess.Config) (_ *reprocess.Report, err error) {
	from, to, err := p.begin(in)
	if err != nil {
		return nil, err
	}
	p.config.Kafka.Partitions = 1 // which keeps the order of the steps
	brokers, closeBroker, err := openBrokers(p.Out, p.config.Kafka)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeBroker()) }()
	s := stage.Stream{Brokers: brokers, Topics: stage.TopicsOf(p.config.RunName()), Job: p.config.RunName() + ".learn"}
	sink, err := reprocess.NewTopicSink(ctx, brokers, s.Topics, p.config.Kafka.Topics(), 1, job.Grader != nil)
	if err != nil {
		return nil, err
	}
	if from < to {
		if err := p.replay(ctx, in, job, sink, s, from, to); err != nil {
			return nil, err
		}
	}
	before := map[string]bool{}
	for _, group := range reprocess.Consumed(in.ledger, 0, to) {
		before[group] = true
	}
	job.Sink = reprocess.NewOrderedSink(sink, reprocess.Consumed(in.ledger, to, int64(len(in.ledger))))
	job.Selection.Group = func(id string) bool { return !before[id] }
	report, err := p.reprocess(ctx, job, "reprocessing")
	if err != nil {
		return nil, err
	}
	report.Output = "topic " + s.Topics.Samples
	hash, err := p.hash(job)
	if err != nil {
		return nil, err
	}
	p.screen.Phase("training", 0)
	if report.Train, err = p.learn(ctx, s, p.config, hash); err != nil {
		return nil, err
	}
	t := report.Train
	t.Start, t.Replayed, t.First = fmt.Sprintf("step %d of the run", to), to-from, to+1
	if p.FromStep == nil {
		t.Start = "the run's first policy"
		if p.Checkpoint != "" {
			t.Start = p.Checkpoint
		}
	}
	taken, err := learn.ReadCommitted(filepath.Join(p.Out, "checkpoints"))
	if err != nil {
		return nil, err
	}
	t.EqualSteps, _ = reprocess.EqualSteps(in.ledger, taken.Updates, to)
	if n := len(taken.Updates); n > 0 {
		t.WeightsDigest = taken.Updates[n-1].WeightsDigest
	}
	if err := p.record(taken.Updates); err != nil {
		return nil, err
	}
	return report, writeOutputs(ctx, p.Out, p.config, brokers, p.screen)
}

// begin makes the state that training starts from, as near before step to as a
// checkpoint was kept: that of step from.
func (p *reprocessing) begin(in *input) (from, to int64, err error) {
	if p.FromStep == nil {
		return 0, 0, nil
	}
	to = *p.FromStep
	if in.checkpoints == "" {
		return 0, 0, errors.New("--from-step needs the run directory, with its checkpoints and ledger")
	}
	if last := int64(len(in.ledger)); to > last {
		return 0, 0, fmt.Errorf("--from-step %d: the run has taken %d steps", to, last)
	}
	steps, err := learn.KeptSteps(in.checkpoints)
	if err != nil {
		return 0, 0, err
	}
	for _, step := range steps {
		if step <= to {
			from = max(from, step)
		}
	}
	if from == to && to > 0 {
		p.screen.Note(fmt.Sprintf("starting from the checkpoint of step %d", to))
	} else if to > 0 {
		p.screen.Note(fmt.Sprintf("the checkpoint of step %d was not kept: steps %d to %d are replayed with the original settings, which gives the same weights", to, from+1, to))
	}
	if from == 0 {
		return 0, to, nil // the learner begins with the run's first policy
	}
	return from, to, learn.Fork(in.checkpoints, from, filepath.Join(p.Out, "checkpoints"), p.config.RunName())
}

// replay takes the steps from+1 to to with the original settings, and checks that they
// have the weights that the original's ledger tells.
func (p *reprocessing) replay(ctx context.Context, in *input, job reprocess.Config, sink reprocess.Sink, s stage.Stream, from, to int64) error {
	order := reprocess.Consumed(in.ledger, from, to)
	wanted := map[string]bool{}
	for _, group := range order {
		wanted[group] = true
	}
	c := p.original
	c.Name = p.config.Name
	job.Filter, job.Advantage = p.original.Selection()
	job.Grader, job.Originals = nil, nil
	job.Selection = reprocess.Selection{Group: func(id string) bool { return wanted[id] }}
	job.Sink = reprocess.NewOrderedSink(sink, order)
	if _, err := p.reprocess(ctx, job, fmt.Sprintf("replaying steps %d to %d", from+1, to)); err != nil {
		return err
	}
	hash, err := train.Hash(p.original)
	if err != nil {
		return err
	}
	if _, err := p.learn(ctx, s, c, hash); err != nil {
		return err
	}
	replayed, err := learn.ReadCommitted(filepath.Join(p.Out, "checkpoints"))
	if err != nil {
		return err
	}
	return reprocess.CheckReplay(in.ledger, replayed.Updates, from, to)
}

// learn opens a learner at the newest state of the new run and gives it what the
// samples topic holds.
func (p *reprocessing) learn(ctx context.Context, s stage.Stream, c train.Config, hash string) (_ *reprocess.Training, err error) {
	l, err := train.OpenLearner(c, p.original.MaxDraws(), p.Out, hash)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := reprocess.Learn(ctx, start, s, l.Learner); err != nil {
		return nil, err
	}
	counts := l.Counts()
	return &reprocess.Training{
		Last: l.Version(), Consumed: counts.Consumed, Dropped: counts.Dropped, Held: counts.Held, Checkpoint: l.Checkpoint(),
	}, nil
}

// hash identifies the settings in the ledger: with none changed it is that of a run of
// the configuration.
func (p *reprocessing) hash(job reprocess.Config) (string, error) {
	filtering, grouping := p.config.Selection()
	if job.Grader == nil && filtering == job.Filter && grouping == job.Advantage {
		return train.Hash(p.config)
	}
	text, err := settings.Print(p.config)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf([]byte(text), "\nfilter: %s\nadvantage: %s\nreward: %s\n", job.Filter.Mode, job.Advantage.Estimator, p.Reward))
	return hex.EncodeToString(sum[:]), nil
}

// record writes the metrics of the steps to the journal, for report and data sets.
func (p *reprocessing) record(updates []schemas.Update) (err error) {
	log, err := journal.Open(p.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for _, u := range updates {
		if err := log.Step(u.Step, time.UnixMicro(u.Finished), u.Metrics); err != nil {
			return err
		}
	}
	return nil
}
