// Package export turns what a run left on its topics and in its journal into data
// sets, and reads them back.
package export

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"time"

	"millrace/pipelines/dataset"
	"millrace/pipelines/journal"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// The names of the tables: directories below a run's data directory.
const (
	Rollouts     = "rollouts"     // schemas.Trajectory: of a job that does not score
	Trajectories = "trajectories" // schemas.Reward: with their rewards
	Filtered     = "filtered"     // schemas.Member: of a job that ends with the filter
	Samples      = "samples"      // schemas.Sample
	Ledger       = "ledger"       // schemas.Update
	DeadLetters  = "dead_letters" // schemas.DeadLetter
	Metrics      = "metrics"      // schemas.Measurement
)

// Topics are the topics to export, by name. One with an empty name is left out.
type Topics struct {
	Trajectories, Rewarded, Filtered, Samples, Ledger, DeadLetters string
}

// Table says what became of one table.
type Table struct {
	// Dir is the directory of the run's Parquet files.
	Dir string
	// Topic is where the rows come from, empty for the journal.
	Topic string
	// Rows were written. Duplicates are rows whose rollout, sample, step or letter
	// came before: delivery is at least once, and the first one is kept.
	Rows, Duplicates int64
	// Undecodable records are in no file; Problem is the first one's error.
	Undecodable int64
	Problem     error
}

// String is one line for people.
func (t Table) String() string {
	s := fmt.Sprintf("%s: %d rows", t.Dir, t.Rows)
	if t.Duplicates > 0 {
		s += fmt.Sprintf(", %d duplicates left out", t.Duplicates)
	}
	if t.Undecodable > 0 {
		s += fmt.Sprintf(", %d records could not be decoded, the first: %v", t.Undecodable, t.Problem)
	}
	return s
}

// kind is a type of record on a topic.
type kind[T any] struct {
	table string
	codec codec[T]
	id    func(T) string
	// micros is the record's own time in Unix microseconds, 0 if it has none.
	micros func(T) int64
}

type codec[T any] interface {
	dataset.Codec[T]
	Decode(frame []byte) ([]T, error)
}

var (
	rollouts = kind[schemas.Trajectory]{Rollouts, schemas.Trajectories, rollout, func(t schemas.Trajectory) int64 { return t.Finished }}
	rewards  = kind[schemas.Reward]{Trajectories, schemas.Rewards,
		func(r schemas.Reward) string { return rollout(r.Trajectory) }, func(r schemas.Reward) int64 { return r.Trajectory.Finished }}
	filtered = kind[schemas.Member]{Filtered, schemas.Members,
		func(m schemas.Member) string { return rollout(m.Reward.Trajectory) }, func(m schemas.Member) int64 { return m.Reward.Trajectory.Finished }}
	samples = kind[schemas.Sample]{Samples, schemas.Samples,
		func(s schemas.Sample) string { return s.ID }, func(schemas.Sample) int64 { return 0 }}
	updates = kind[schemas.Update]{Ledger, schemas.Updates,
		func(u schemas.Update) string { return fmt.Sprintf("%s %d", u.Run, u.Step) }, func(u schemas.Update) int64 { return u.Finished }}
	deadLetters = kind[schemas.DeadLetter]{DeadLetters, schemas.DeadLetters,
		func(d schemas.DeadLetter) string { return d.ID }, func(d schemas.DeadLetter) int64 { return d.Time }}
)

// rollout names the rollout that a trajectory is of. A crash may leave two of one
// rollout, made in different attempts.
func rollout(t schemas.Trajectory) string { return schemas.RolloutID(t.GroupID, t.Rollout) }

// Run writes what the topics of a run hold now, and its journal, to the data
// directory dir, which is made if it is missing: the tables trajectories, samples,
// ledger, dead_letters and metrics, each with the columns of its record type.
// Files are replaced whole or not at all. Rows of a partition keep their order.
//
// The day of a row is that of the record's own time: when its rollout, its step or
// its measurement ended, when the letter was written. A record that has none, as
// samples do, takes the time at which the broker was given it; that is the same
// each time the log is exported.
//
// Memory is bounded by a few MiB of rows, and 16 bytes for each row to know
// duplicates by. A record that cannot be decoded is counted, not fatal.
func Run(ctx context.Context, brokers, run string, topics Topics, recorded journal.Record, dir string) ([]Table, error) {
	tables, err := Tables(ctx, brokers, run, topics, dir)
	if err != nil {
		return tables, err
	}
	t, err := metrics(recorded, dir, run)
	if err != nil {
		return tables, fmt.Errorf("exporting run %s to %s: %w", run, dir, err)
	}
	return append(tables, t), nil
}

// Tables is Run without the journal.
func Tables(ctx context.Context, brokers, run string, topics Topics, dir string) ([]Table, error) {
	var tables []Table
	for _, write := range []func() (Table, error){
		func() (Table, error) { return table(ctx, brokers, topics.Trajectories, dir, run, rollouts) },
		func() (Table, error) { return table(ctx, brokers, topics.Rewarded, dir, run, rewards) },
		func() (Table, error) { return table(ctx, brokers, topics.Filtered, dir, run, filtered) },
		func() (Table, error) { return table(ctx, brokers, topics.Samples, dir, run, samples) },
		func() (Table, error) { return table(ctx, brokers, topics.Ledger, dir, run, updates) },
		func() (Table, error) { return table(ctx, brokers, topics.DeadLetters, dir, run, deadLetters) },
	} {
		t, err := write()
		if err != nil {
			return tables, fmt.Errorf("exporting run %s to %s: %w", run, dir, err)
		}
		if t.Dir != "" {
			tables = append(tables, t)
		}
	}
	return tables, nil
}

// table exports one topic; without a topic it does nothing.
func table[T any](ctx context.Context, brokers, topic, dir, run string, k kind[T]) (Table, error) {
	if topic == "" {
		return Table{}, nil
	}
	t := Table{Dir: filepath.Join(dir, k.table), Topic: topic}
	w := dataset.NewWriter(t.Dir, run, k.codec)
	defer w.Abandon()
	seen := map[digest]struct{}{}
	err := kafkaio.Scan(ctx, brokers, topic, &kafkaio.Latest, func(r kafkaio.Record) error {
		rows, err := k.codec.Decode(r.Value)
		if err != nil {
			if t.Undecodable == 0 {
				t.Problem = fmt.Errorf("%s[%d] offset %d: %w", topic, r.Source.Partition, r.Source.Offset, err)
			}
			t.Undecodable++
			return nil
		}
		for _, row := range rows {
			d := digestOf(k.id(row))
			if _, twice := seen[d]; twice {
				t.Duplicates++
				continue
			}
			seen[d] = struct{}{}
			t.Rows++
			day := dataset.DayOf(k.micros(row), time.UnixMilli(r.Time).UnixMicro())
			if err := w.Add(row, day, len(r.Value)/len(rows)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return t, err
	}
	return t, w.Commit()
}

// digest stands for an id among those seen: two ids with one digest are less
// likely than a broken disk.
type digest [16]byte

func digestOf(id string) digest {
	sum := sha256.Sum256([]byte(id))
	return digest(sum[:16])
}
