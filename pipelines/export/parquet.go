// Package export turns what a run left on its topics into Parquet files.
package export

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// Topics are the topics to export, by name. One with an empty name is left out.
type Topics struct {
	Rewarded, Samples, Ledger, DeadLetters string
}

// Table says what became of one topic.
type Table struct {
	// File is the path of the Parquet file.
	File  string
	Topic string
	// Rows were written. Duplicates are rows whose id came before: delivery is at
	// least once, and the first one is kept.
	Rows, Duplicates int64
	// Undecodable records are in no file; Problem is the first one's error.
	Undecodable int64
	Problem     error
}

// String is one line for people.
func (t Table) String() string {
	s := fmt.Sprintf("%s: %d rows", t.File, t.Rows)
	if t.Duplicates > 0 {
		s += fmt.Sprintf(", %d duplicates left out", t.Duplicates)
	}
	if t.Undecodable > 0 {
		s += fmt.Sprintf(", %d records could not be decoded, the first: %v", t.Undecodable, t.Problem)
	}
	return s
}

// Parquet writes what the topics hold now to files in dir, which is made if it
// is missing: trajectories.parquet (with their rewards), samples.parquet,
// updates.parquet and dead_letters.parquet, each with the columns of its record
// type. A file is replaced whole or not at all. Rows of a partition keep their
// order.
//
// Memory is bounded by a row group, and 16 bytes for each row to know
// duplicates by. A record that cannot be decoded is counted, not fatal.
func Parquet(ctx context.Context, brokers string, topics Topics, dir string) ([]Table, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("exporting to Parquet: %w", err)
	}
	at := func(name string) string { return filepath.Join(dir, name+".parquet") }
	var tables []Table
	for _, part := range []struct {
		topic string
		write func(topic string) (Table, error)
	}{
		{topics.Rewarded, func(topic string) (Table, error) {
			return table(ctx, brokers, topic, at("trajectories"), schemas.Rewards, func(r schemas.Reward) string { return r.Trajectory.ID })
		}},
		{topics.Samples, func(topic string) (Table, error) {
			return table(ctx, brokers, topic, at("samples"), schemas.Samples, func(s schemas.Sample) string { return s.ID })
		}},
		{topics.Ledger, func(topic string) (Table, error) {
			return table(ctx, brokers, topic, at("updates"), schemas.Updates, func(u schemas.Update) string { return fmt.Sprintf("%s %d", u.Run, u.Step) })
		}},
		{topics.DeadLetters, func(topic string) (Table, error) {
			return table(ctx, brokers, topic, at("dead_letters"), schemas.DeadLetters, func(d schemas.DeadLetter) string { return d.ID })
		}},
	} {
		if part.topic == "" {
			continue
		}
		t, err := part.write(part.topic)
		if err != nil {
			return tables, fmt.Errorf("exporting topic %s to %s: %w", part.topic, t.File, err)
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// table exports one topic.
func table[T row](ctx context.Context, brokers, topic, path string, codec codec[T], id func(T) string) (t Table, err error) {
	t = Table{File: path, Topic: topic}
	f, err := create(path, codec)
	if err != nil {
		return t, err
	}
	defer f.abandon()
	seen := map[digest]struct{}{}
	latest := kafkaio.Latest
	err = kafkaio.Scan(ctx, brokers, topic, &latest, func(r kafkaio.Record) error {
		rows, err := codec.Decode(r.Value)
		if err != nil {
			if t.Undecodable == 0 {
				t.Problem = fmt.Errorf("%s[%d] offset %d: %w", topic, r.Source.Partition, r.Source.Offset, err)
			}
			t.Undecodable++
			return nil
		}
		for _, row := range rows {
			d := digestOf(id(row))
			if _, twice := seen[d]; twice {
				t.Duplicates++
				continue
			}
			seen[d] = struct{}{}
			t.Rows++
			if err := f.add(row, len(r.Value)/len(rows)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return t, err
	}
	return t, f.commit()
}
