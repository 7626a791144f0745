package local

import (
	"context"
	"path/filepath"

	"millrace/pipelines/export"
	"millrace/pipelines/journal"
	"millrace/pipelines/report"
	"millrace/pipelines/settings"
	"millrace/pipelines/stage"
	"millrace/pipelines/train"
	"millrace/runners/display"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// writeOutputs makes what a person takes away from a run: the report and the
// data files.
func writeOutputs(ctx context.Context, dir string, c train.Config, brokers string, screen *display.Display) error {
	topics := stage.TopicsOf(c.RunName())
	recorded, err := journal.Read(dir)
	if err != nil {
		return err
	}
	tables, err := export.Run(ctx, brokers, c.RunName(), export.Topics{
		Rewarded: topics.Rewarded, Samples: topics.Samples, Ledger: topics.Ledger, DeadLetters: topics.DeadLetters,
	}, recorded, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	for _, t := range tables {
		screen.Note(t.String())
	}
	selection, err := trajectories(ctx, brokers, topics.Rewarded)
	if err != nil {
		return err
	}
	text, err := settings.Print(c.Resolved())
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "report.html")
	if err := report.Write(path, report.Input{Title: "Run " + c.RunName(), ConfigYAML: text, Record: recorded, Trajectories: selection}); err != nil {
		return err
	}
	screen.Note("report: " + path)
	return nil
}

// trajectories picks a few to read.
func trajectories(ctx context.Context, brokers, topic string) ([]schemas.Reward, error) {
	var selection report.Selection
	err := kafkaio.Scan(ctx, brokers, topic, &kafkaio.Latest, func(r kafkaio.Record) error {
		rows, err := schemas.Rewards.Decode(r.Value)
		if err != nil {
			return nil // the advantage stage has made a dead letter of it
		}
		for _, row := range rows {
			selection.Add(row)
		}
		return nil
	})
	return selection.Trajectories(), err
}

// Report runs "millrace report": the outputs of a run that is not under way, made
// again.
func Report(ctx context.Context, o TrainOptions) error {
	return stopped(ctx, o.Dir, func(config train.Config, brokers string) error {
		screen := display.Open(o.Out)
		defer screen.Close()
		return writeOutputs(ctx, o.Dir, config, brokers, screen)
	})
}
