package submit

import (
	"context"
	"fmt"
	"path/filepath"

	"millrace/pipelines/export"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// Written is a place that holds rows of a job.
type Written struct {
	// Where is a directory of Parquet files, or "topic" and its name.
	Where string `json:"where"`
	Rows  int64  `json:"rows"`
}

// write writes what the job has made to where its configuration says. It may be
// written again, with more of it: files are replaced, and a topic gets what it
// lacks.
func (j *job) write(ctx context.Context) ([]Written, error) {
	j.Observer.Phase("writing", 0)
	var written []Written
	if dir := j.dataDir(); dir != "" {
		tables, err := export.Tables(ctx, j.Brokers, j.id, j.tables(), dir)
		if err != nil {
			return nil, err
		}
		for _, t := range tables {
			j.Observer.Note(t.String())
			written = append(written, Written{t.Dir, t.Rows})
		}
	}
	if j.Output.Topic != "" {
		w, err := j.publish(ctx)
		if err != nil {
			return nil, fmt.Errorf("writing topic %s: %w", j.Output.Topic, err)
		}
		j.Observer.Note(fmt.Sprintf("%s: %d rows", w.Where, w.Rows))
		written = append(written, w)
	}
	return written, nil
}

// dataDir is where Parquet goes, empty where none is wanted.
func (j *job) dataDir() string {
	if j.Output.Parquet == "" && j.Output.Topic == "" {
		return filepath.Join(j.Dir, "data")
	}
	return j.Output.Parquet
}

// tables are the topics whose rows the job made. Rollouts that it scored too are
// in the rewards.
func (j *job) tables() export.Topics {
	t := j.stream.Topics
	out := export.Topics{Samples: t.Samples, DeadLetters: t.DeadLetters}
	switch {
	case j.has(Score):
		out.Rewarded = t.Rewarded
	case j.has(Rollout):
		out.Trajectories = t.Trajectories
	}
	if j.last() == Filter {
		out.Filtered = t.Filtered
	}
	return out
}

// publish copies the records of the last stage to the output topic, each once,
// however often the job was interrupted.
func (j *job) publish(ctx context.Context) (Written, error) {
	spec := kafkaio.TopicSpec{Name: j.Output.Topic, Partitions: j.Kafka.Partitions, Replicas: j.Kafka.Replication, Retention: j.Kafka.Retention}
	if err := kafkaio.EnsureTopics(ctx, j.Brokers, spec); err != nil {
		return Written{}, err
	}
	t := j.stream.Topics
	switch j.last() {
	case Rollout:
		return publish(ctx, j, t.Trajectories, schemas.Trajectories, func(t schemas.Trajectory) string { return schemas.RolloutID(t.GroupID, t.Rollout) })
	case Score:
		return publish(ctx, j, t.Rewarded, schemas.Rewards, func(r schemas.Reward) string { return schemas.RolloutID(r.Trajectory.GroupID, r.Trajectory.Rollout) })
	case Filter:
		return publish(ctx, j, t.Filtered, schemas.Members, func(m schemas.Member) string {
			return schemas.RolloutID(m.Reward.Trajectory.GroupID, m.Reward.Trajectory.Rollout)
		})
	}
	return publish(ctx, j, t.Samples, schemas.Samples, func(s schemas.Sample) string { return schemas.RolloutID(s.GroupID, s.Rollout) })
}

func publish[T any](ctx context.Context, j *job, from string, codec interface{ Decode([]byte) ([]T, error) }, id func(T) string) (Written, error) {
	w := Written{Where: "topic " + j.Output.Topic}
	there := map[string]bool{}
	err := kafkaio.Scan(ctx, j.Brokers, j.Output.Topic, &kafkaio.Latest, func(r kafkaio.Record) error {
		rows, err := codec.Decode(r.Value)
		if err != nil {
			return fmt.Errorf("it holds other records than those of %s: %w", j.last(), err)
		}
		for _, row := range rows {
			there[id(row)] = true
		}
		return nil
	})
	if err != nil {
		return w, err
	}
	counted := map[string]bool{}
	var waiting []kafkaio.Output
	bytes := 0
	flush := func() error {
		if len(waiting) == 0 {
			return nil
		}
		err := kafkaio.Produce(ctx, j.Brokers, waiting...)
		waiting, bytes = nil, 0
		return err
	}
	err = kafkaio.Scan(ctx, j.Brokers, from, &kafkaio.Latest, func(r kafkaio.Record) error {
		rows, err := codec.Decode(r.Value)
		if err != nil {
			return err
		}
		news := false // the rows of a record are of one group and came together
		for _, row := range rows {
			key := id(row)
			if !counted[key] {
				counted[key] = true
				w.Rows++
			}
			news = news || !there[key]
			there[key] = true
		}
		if !news {
			return nil
		}
		waiting = append(waiting, kafkaio.Output{Topic: j.Output.Topic, Key: r.Key, Value: r.Value, ID: id(rows[0])})
		if bytes += len(r.Value); len(waiting) < feedRecords && bytes < feedBytes {
			return nil
		}
		return flush()
	})
	if err != nil {
		return w, err
	}
	return w, flush()
}
