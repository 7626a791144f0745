package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"millrace/pipelines/export"
	"millrace/pipelines/reprocess"
	"millrace/pipelines/stage"
	"millrace/runners/embedded"
	"millrace/schemas"
	"millrace/transforms/learn"
)

// input is what is read, open.
type input struct {
	name      string // for the report
	source    reprocess.Source
	originals reprocess.Originals
	// ledger are the steps of the run, none where they are not at hand; checkpoints is
	// the directory that they are from.
	ledger      []schemas.Update
	checkpoints string
	close       func() error
}

// open opens the input: topics or files of a run directory, which is locked meanwhile,
// a directory of data sets, or topics of a Kafka.
func (p *reprocessing) open(ctx context.Context) (_ *input, err error) {
	in := &input{close: func() error { return nil }}
	defer func() {
		if err != nil {
			err = errors.Join(err, in.close())
		}
	}()
	run := p.Run
	_, noRun := os.Stat(filepath.Join(p.From, configFile))
	isRun := p.From != "" && noRun == nil
	if run == "" && (isRun || p.From == "") {
		run = p.original.RunName()
	}
	if isRun {
		lock, err := embedded.LockDir(p.From)
		if err != nil {
			return nil, fmt.Errorf("the run must not be going on: %w", err)
		}
		in.close = lock.Unlock
		in.checkpoints = filepath.Join(p.From, "checkpoints")
		committed, err := learn.ReadCommitted(in.checkpoints)
		if err != nil {
			return nil, err
		}
		in.ledger = committed.Updates
	}
	if !isRun && p.From != "" || p.Parquet {
		return in, p.openFiles(ctx, in, run, isRun)
	}
	return in, p.openTopics(ctx, in, run)
}

func (p *reprocessing) openFiles(ctx context.Context, in *input, run string, isRun bool) (err error) {
	dir := p.From
	if isRun {
		dir = filepath.Join(dir, "data")
	}
	if len(p.Offsets) > 0 {
		return errors.New("--offsets are of a topic: files are cut by --since and --until")
	}
	if run == "" {
		return fmt.Errorf("%s is no run directory: name the run in it by --run", p.From)
	}
	p.screen.Phase("looking at "+dir, 0)
	if in.source, err = reprocess.OpenParquet(ctx, dir, run, lanes()); err != nil {
		return err
	}
	in.name = filepath.Join(dir, export.Trajectories) + " of run " + run
	in.originals, err = reprocess.OriginalsOfParquet(ctx, dir, run)
	return err
}

func (p *reprocessing) openTopics(ctx context.Context, in *input, run string) error {
	var offsets []reprocess.Offsets
	for _, text := range p.Offsets {
		o, err := reprocess.ParseOffsets(text)
		if err != nil {
			return err
		}
		offsets = append(offsets, o)
	}
	if p.original.Kafka.Brokers == "" && p.From == "" {
		return errors.New("what is read: name a run directory or a directory of data sets, or give kafka.brokers and --run")
	}
	brokers, closeBroker, err := openBrokers(p.From, p.original.Kafka)
	if err != nil {
		return err
	}
	unlock := in.close
	in.close = func() error { return errors.Join(closeBroker(), unlock()) }
	topics := stage.TopicsOf(run)
	in.name = "topic " + topics.Rewarded
	if in.source, err = reprocess.OpenTopic(ctx, brokers, topics.Rewarded, offsets, lanes()); err != nil {
		return err
	}
	p.screen.Phase("reading the samples of run "+run, 0)
	in.originals, err = reprocess.OriginalsOfTopic(ctx, brokers, topics.Samples)
	return err
}
