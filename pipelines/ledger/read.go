package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
	"millrace/transforms/learn"
)

// Read reads the log of a run: its topics, and the learner's ledger in the
// directory of checkpoints. A stage to which nothing was ever written ran elsewhere:
// a run that trains on what was recorded begins with samples.
func Read(ctx context.Context, brokers, run, checkpoints string) (*Log, error) {
	topics := stage.TopicsOf(run)
	written := map[string]bool{}
	found, err := kafkaio.Topics(ctx, brokers, func(name string) bool { return strings.HasPrefix(name, run+".") })
	if err != nil {
		return nil, fmt.Errorf("listing the topics of run %s: %w", run, err)
	}
	for _, t := range found {
		written[t.Name] = slices.ContainsFunc(t.Partitions, func(p kafkaio.PartitionState) bool { return p.Last > 0 })
	}
	l := NewLog()
	for _, input := range []struct {
		topic string
		stage string // that reads it, if what it reads is balanced
		scan  func(topic, stage string) error
	}{
		{topics.Tasks, rolloutStage, func(topic, stage string) error {
			return scan(ctx, brokers, topic, schemas.Tasks, func(t schemas.Task, p schemas.Position) { l.Order(run, t, p) }, l.breaks(stage))
		}},
		{topics.Trajectories, scoreStage, func(topic, stage string) error {
			return scan(ctx, brokers, topic, schemas.Trajectories, l.Trajectory, l.breaks(stage))
		}},
		{topics.Rewarded, advantageStage, func(topic, stage string) error {
			return scan(ctx, brokers, topic, schemas.Rewards, l.Reward, l.breaks(stage))
		}},
		{topics.Samples, learnStage, func(topic, stage string) error {
			return scan(ctx, brokers, topic, schemas.Samples, l.Sample, l.breaks(stage))
		}},
		{topics.DeadLetters, "", func(topic, _ string) error {
			return scan(ctx, brokers, topic, schemas.DeadLetters, func(d schemas.DeadLetter, _ schemas.Position) { l.Letter(d) }, func(schemas.Position) {})
		}},
		{topics.Ledger, "", func(topic, _ string) error {
			return scan(ctx, brokers, topic, schemas.Updates, func(u schemas.Update, _ schemas.Position) { l.Published(u.Step) }, func(schemas.Position) {})
		}},
	} {
		if holds, exists := written[input.topic]; exists && !holds && input.stage != "" {
			l.Elsewhere(input.stage)
		} else if err := input.scan(input.topic, input.stage); err != nil {
			return nil, fmt.Errorf("reading the log of run %s: %w", run, err)
		}
	}
	for name, topic := range map[string]string{rolloutStage: topics.Tasks, scoreStage: topics.Trajectories, advantageStage: topics.Rewarded} {
		positions, err := kafkaio.Commits(ctx, brokers, run+"."+name)
		if err != nil {
			return nil, fmt.Errorf("asking how far stage %s of run %s is: %w", name, run, err)
		}
		for _, p := range positions { // where nothing is committed yet, all is still to be read
			if p.Topic == topic {
				l.Committed(name, p.Partition, p.Offset)
			}
		}
	}
	committed, err := learn.ReadCommitted(checkpoints)
	if err != nil {
		return nil, fmt.Errorf("reading the ledger of run %s: %w", run, err)
	}
	for _, u := range committed.Updates {
		l.Update(u)
	}
	for _, p := range committed.Positions {
		if p.Topic == topics.Samples {
			l.Committed(learnStage, p.Partition, p.Offset)
		}
	}
	return l, nil
}

func (l *Log) breaks(stage string) func(schemas.Position) {
	return func(p schemas.Position) { l.Broken(stage, p) }
}

// scan gives the rows of a topic to add, and the records that it cannot decode to
// broken.
func scan[T any](ctx context.Context, brokers, topic string, codec interface{ Decode([]byte) ([]T, error) }, add func(T, schemas.Position), broken func(schemas.Position)) error {
	return kafkaio.Scan(ctx, brokers, topic, &kafkaio.Latest, func(r kafkaio.Record) error {
		rows, err := codec.Decode(r.Value)
		if err != nil {
			broken(r.Source)
			return nil
		}
		for _, row := range rows {
			add(row, r.Source)
		}
		return nil
	})
}
