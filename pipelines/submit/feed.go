package submit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"millrace/pipelines/dataset"
	"millrace/pipelines/export"
	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// feedRecords and feedBytes bound what waits to be written while a job is fed.
const (
	feedRecords = 256
	feedBytes   = 8 << 20
)

// fedFile is in the job's directory when the job has all that it works on; it
// tells how much. Without it feeding begins anew and leaves out what is there.
const fedFile = "input.json"

type fed struct {
	// Records are the rollouts ordered, or the records that were read.
	Records int `json:"records"`
}

// feed writes what the job works on to the topic of its first stage and returns
// how much that is. It returns [ErrDrained], and how much it wrote, when the job
// is drained meanwhile.
func (j *job) feed(ctx context.Context) (int, error) {
	path := filepath.Join(j.Dir, fedFile)
	var f fed
	switch text, err := os.ReadFile(path); {
	case err == nil:
		if err := json.Unmarshal(text, &f); err != nil {
			return 0, fmt.Errorf("reading %s: %w", path, err)
		}
		return f.Records, nil
	case !errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("looking whether the job has its input: %w", err)
	}
	var err error
	if f.Records, err = j.feedFirst(ctx); err != nil {
		return f.Records, err
	}
	text, err := json.Marshal(f)
	if err == nil {
		err = renameio.WriteFile(path, text, 0o644)
	}
	if err != nil {
		return f.Records, fmt.Errorf("noting that the job has its input: %w", err)
	}
	return f.Records, nil
}

func (j *job) feedFirst(ctx context.Context) (int, error) {
	topics := j.stream.Topics
	switch j.first() {
	case Rollout:
		return j.order(ctx)
	case Score:
		return feedRows(ctx, j, topics.Trajectories, func(f *feeder[schemas.Trajectory]) error {
			if err := f.parquet(ctx, export.Rollouts); err != nil {
				return err
			}
			// Trajectories that were scored before are scored again.
			return readTable(ctx, j.Input.Parquet, export.Trajectories, schemas.Rewards, func(r schemas.Reward) error { return f.add(ctx, r.Trajectory) })
		}, schemas.Trajectories, func(t schemas.Trajectory) schemas.Trajectory { return t }, export.Rollouts, export.Trajectories)
	case Filter:
		return feedRows(ctx, j, topics.Rewarded, func(f *feeder[schemas.Reward]) error { return f.parquet(ctx, export.Trajectories) },
			schemas.Rewards, func(r schemas.Reward) schemas.Trajectory { return r.Trajectory }, export.Trajectories)
	}
	return feedRows(ctx, j, topics.Filtered, func(f *feeder[schemas.Member]) error { return f.parquet(ctx, export.Filtered) },
		schemas.Members, func(m schemas.Member) schemas.Trajectory { return m.Reward.Trajectory }, export.Filtered)
}

// order orders a group of each task.
func (j *job) order(ctx context.Context) (int, error) {
	tasks, err := j.parts.Tasks(j.Tasks.Split, j.MaxTasks)
	if err != nil {
		return 0, err
	}
	ordered, err := stage.Ordered(ctx, j.stream, j.id)
	if err != nil {
		return 0, err
	}
	var orders []schemas.Task
	for _, t := range tasks {
		t.Iteration, t.Rollouts = 0, j.GroupSize
		if !ordered[schemas.GroupID(j.id, t.ID, 0)] {
			orders = append(orders, t)
		}
	}
	return len(tasks) * int(j.GroupSize), stage.Order(ctx, j.stream, j.id, orders...)
}

// codec is what is needed of a schemas.Codec.
type codec[T any] interface {
	dataset.Codec[T]
	Decode(frame []byte) ([]T, error)
	Encode(rows ...T) ([]byte, error)
}

// feeder writes rows to the topic of a job's first stage, each rollout once.
//
// The id of a record is the rollout's, whatever id it came with: what is on the
// topic already is told by the ids alone.
type feeder[T any] struct {
	job        *job
	topic      string
	codec      codec[T]
	trajectory func(T) schemas.Trajectory
	there      map[string]bool
	waiting    []kafkaio.Output
	bytes      int
}

// feedRows feeds from the input topic, or by fromParquet from the named tables.
func feedRows[T any](ctx context.Context, j *job, topic string, fromParquet func(*feeder[T]) error,
	codec codec[T], trajectory func(T) schemas.Trajectory, tables ...string) (int, error) {
	f := &feeder[T]{job: j, topic: topic, codec: codec, trajectory: trajectory, there: map[string]bool{}}
	err := kafkaio.Scan(ctx, j.Brokers, topic, &kafkaio.Latest, func(r kafkaio.Record) error {
		f.there[r.ID()] = true
		return nil
	})
	if err != nil {
		return 0, err
	}
	if j.Input.Topic != "" {
		err = f.fromTopic(ctx, j.Input.Topic)
	} else if err = fromParquet(f); err == nil && len(f.there) == 0 {
		err = fmt.Errorf("input.parquet: %s holds no rows of %v, with which a job that begins with %s begins", j.Input.Parquet, tables, j.first())
	}
	if err == nil || errors.Is(err, ErrDrained) {
		err = errors.Join(err, f.flush(ctx))
	}
	return len(f.there), err
}

func (f *feeder[T]) parquet(ctx context.Context, table string) error {
	return readTable(ctx, f.job.Input.Parquet, table, f.codec, func(row T) error { return f.add(ctx, row) })
}

func readTable[T any](ctx context.Context, dir, table string, codec dataset.Codec[T], add func(T) error) error {
	files, err := dataset.Find(dir, table)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := dataset.Read(ctx, file, codec, add); err != nil {
			return err
		}
	}
	return nil
}

// fromTopic takes what the input topic holds now. A record that cannot be decoded
// goes on as it came: the first stage makes a dead letter of it.
func (f *feeder[T]) fromTopic(ctx context.Context, topic string) error {
	return kafkaio.Scan(ctx, f.job.Brokers, topic, &kafkaio.Latest, func(r kafkaio.Record) error {
		rows, err := f.codec.Decode(r.Value)
		if err != nil {
			return f.put(ctx, fmt.Sprintf("%s[%d]@%d", topic, r.Source.Partition, r.Source.Offset), r.Key, r.Value)
		}
		for _, row := range rows {
			if err := f.add(ctx, row); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *feeder[T]) add(ctx context.Context, row T) error {
	t := f.trajectory(row)
	id := schemas.RolloutID(t.GroupID, t.Rollout)
	if f.there[id] {
		return nil
	}
	frame, err := f.codec.Encode(row)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", t.ID, err)
	}
	return f.put(ctx, id, []byte(t.GroupID), frame)
}

func (f *feeder[T]) put(ctx context.Context, id string, key, value []byte) error {
	if f.there[id] {
		return nil
	}
	if f.job.draining() {
		return ErrDrained
	}
	f.there[id] = true
	f.waiting = append(f.waiting, kafkaio.Output{Topic: f.topic, Key: key, Value: value, ID: id})
	f.bytes += len(value)
	if len(f.waiting) < feedRecords && f.bytes < feedBytes {
		return nil
	}
	return f.flush(ctx)
}

func (f *feeder[T]) flush(ctx context.Context) error {
	if len(f.waiting) == 0 {
		return nil
	}
	if err := kafkaio.Produce(ctx, f.job.Brokers, f.waiting...); err != nil {
		return fmt.Errorf("writing the input of the job to %s: %w", f.topic, err)
	}
	f.waiting, f.bytes = nil, 0
	return nil
}
