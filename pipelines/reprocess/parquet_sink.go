package reprocess

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"millrace/pipelines/dataset"
	"millrace/pipelines/export"
	"millrace/schemas"
)

// ParquetSink writes data sets under the name of a new run: samples and dead letters,
// and trajectories if their rewards are new. Each lane has a file in each partition.
// Nothing is seen before Commit.
type ParquetSink struct {
	samples *table[schemas.Sample]
	rewards *table[schemas.Reward] // nil where the recorded rewards stay
	letters *table[schemas.DeadLetter]
}

// NewParquetSink writes to a directory of data sets. A run of the name that has any of
// the tables there already is an error.
func NewParquetSink(dir, run string, lanes int, rewards bool) (*ParquetSink, error) {
	for _, name := range []string{export.Trajectories, export.Samples, export.DeadLetters} {
		path := filepath.Join(dir, name, filepath.FromSlash(filepath.Dir(dataset.Partition{Run: run, Day: dataset.NoDay}.Dir())))
		if _, err := os.Stat(path); err == nil {
			return nil, fmt.Errorf("%s is there already: choose another name for the new run", path)
		}
	}
	s := &ParquetSink{
		samples: newTable(filepath.Join(dir, export.Samples), run, lanes, schemas.Samples),
		letters: newTable(filepath.Join(dir, export.DeadLetters), run, lanes, schemas.DeadLetters),
	}
	if rewards {
		s.rewards = newTable(filepath.Join(dir, export.Trajectories), run, lanes, schemas.Rewards)
	}
	return s, nil
}

// Samples implements [Sink]. The day of a sample is that on which its rollout ended.
func (s *ParquetSink) Samples(_ context.Context, lane int, samples []schemas.Sample, finished []int64) error {
	for i, sample := range samples {
		if err := s.samples.add(lane, sample, dataset.DayOf(finished[i]), sampleBytes(&sample)); err != nil {
			return err
		}
	}
	return nil
}

// Reward implements [Sink].
func (s *ParquetSink) Reward(_ context.Context, lane int, r schemas.Reward) error {
	if s.rewards == nil {
		return nil
	}
	return s.rewards.add(lane, r, dataset.DayOf(r.Trajectory.Finished), rewardBytes(&r))
}

// Letter implements [Sink].
func (s *ParquetSink) Letter(_ context.Context, lane int, d schemas.DeadLetter) error {
	return s.letters.add(lane, d, dataset.DayOf(d.Time), len(d.Payload)+rowBytes)
}

// Commit implements [Sink].
func (s *ParquetSink) Commit(context.Context) error {
	if s.rewards != nil {
		if err := s.rewards.commit(); err != nil {
			return err
		}
	}
	if err := s.letters.commit(); err != nil {
		return err
	}
	return s.samples.commit()
}

// Abandon implements [Sink].
func (s *ParquetSink) Abandon() {
	if s.rewards != nil {
		s.rewards.abandon()
	}
	s.letters.abandon()
	s.samples.abandon()
}

// table is a writer for each lane.
type table[T any] struct{ lanes []*dataset.Writer[T] }

func newTable[T any](dir, run string, lanes int, codec dataset.Codec[T]) *table[T] {
	t := &table[T]{}
	for n := range lanes {
		t.lanes = append(t.lanes, dataset.NewPartWriter(dir, run, n, codec))
	}
	return t
}

func (t *table[T]) add(lane int, row T, day string, bytes int) error {
	return t.lanes[lane].Add(row, day, bytes)
}

// commit names the files, of all lanes at once: each has a last row group to encode
// and a file to sync. A lane without rows leaves none, unless all are without.
func (t *table[T]) commit() error {
	written := slices.DeleteFunc(slices.Clone(t.lanes), (*dataset.Writer[T]).Empty)
	if len(written) == 0 {
		written = t.lanes[:1]
	}
	var lanes errgroup.Group
	for _, w := range written {
		lanes.Go(w.Commit)
	}
	return lanes.Wait()
}

func (t *table[T]) abandon() {
	for _, w := range t.lanes {
		w.Abandon()
	}
}

const (
	// rowBytes is about what a row takes beside its tokens and texts.
	rowBytes = 512
	// tokenBytes is what a token takes: id, log-probability, version and mask.
	tokenBytes = 13
)

func sampleBytes(s *schemas.Sample) int { return rowBytes + tokenBytes*len(s.Tokens) }

func rewardBytes(r *schemas.Reward) int {
	t := &r.Trajectory
	n := rowBytes + tokenBytes*len(t.Tokens) + len(t.Patch) + len(r.Output)
	for _, f := range t.Task.Files {
		n += len(f.Content)
	}
	for _, s := range t.Steps {
		n += len(s.Action) + len(s.Observation)
	}
	return n
}

// now is the time of letters that have none.
func now() int64 { return time.Now().UnixMicro() }
