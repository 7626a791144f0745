package ledger

import (
	"context"
	"fmt"

	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
	"millrace/transforms/learn"
)

// Read reads the log of a run: its topics, and the learner's ledger in the
// directory of checkpoints.
func Read(ctx context.Context, brokers, run, checkpoints string) (*Log, error) {
	topics := stage.TopicsOf(run)
	l := NewLog()
	for _, read := range []func() error{
		func() error {
			return scan(ctx, brokers, topics.Tasks, schemas.Tasks, func(t schemas.Task, p schemas.Position) { l.Order(run, t, p) }, l.breaks(rolloutStage))
		},
		func() error {
			return scan(ctx, brokers, topics.Trajectories, schemas.Trajectories, l.Trajectory, l.breaks(scoreStage))
		},
		func() error {
			return scan(ctx, brokers, topics.Rewarded, schemas.Rewards, l.Reward, l.breaks(advantageStage))
		},
		func() error {
			return scan(ctx, brokers, topics.Samples, schemas.Samples, l.Sample, l.breaks(learnStage))
		},
		func() error {
			return scan(ctx, brokers, topics.DeadLetters, schemas.DeadLetters, func(d schemas.DeadLetter, _ schemas.Position) { l.Letter(d) }, func(schemas.Position) {})
		},
		func() error {
			return scan(ctx, brokers, topics.Ledger, schemas.Updates, func(u schemas.Update, _ schemas.Position) { l.Published(u.Step) }, func(schemas.Position) {})
		},
	} {
		if err := read(); err != nil {
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
