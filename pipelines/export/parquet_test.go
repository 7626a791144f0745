package export

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kfake"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

var topics = Topics{Rewarded: "r.rewarded", Samples: "r.samples", Ledger: "r.ledger", DeadLetters: "r.deadletters"}

func exampleReward(n int) schemas.Reward {
	task := schemas.Task{ID: "textwrap/flip/5f1a", Split: "train", Statement: "off by one — maybe", TestFormat: "go-test-json",
		Files:      []schemas.File{{Path: "go.mod", Content: "module textwrap\n"}, {Path: "wrap.go", Content: "\xff\x00raw"}},
		FailToPass: []string{"TestWrap"}, Iteration: int64(n), Rollouts: 2}
	return schemas.Reward{
		Trajectory: schemas.Trajectory{
			ID: schemas.TrajectoryID("r", task.ID, int64(n), 1, 0), GroupID: schemas.GroupID("r", task.ID, int64(n)), Run: "r",
			Iteration: int64(n), Rollout: 1, Task: task,
			Tokens: []int32{1, 7, 900, 2}, LossMask: []bool{false, true, true, false},
			LogProbs: []float32{0, -0.5, -1.25, 0}, Versions: []int32{-1, 2, 3, -1},
			Steps:       []schemas.Step{{TokenStart: 1, TokenEnd: 3, Tool: "execute_bash", Action: "go test", Observation: "FAIL", ExitCode: 1, Sampling: 3, Acting: 4}},
			Termination: schemas.Finished, Patch: "--- a/wrap.go\n\xfe\n", Started: 10, Finished: 20,
		},
		Value: float64(n % 2), Passed: []string{"TestEmpty"}, Output: "ok\n", Duration: 5,
	}
}

func exampleSample(n int) schemas.Sample {
	r := exampleReward(n)
	t := r.Trajectory
	return schemas.Sample{ID: t.ID, GroupID: t.GroupID, TaskID: t.Task.ID, Run: "r", Iteration: t.Iteration, Rollout: 1,
		Tokens: t.Tokens, LossMask: t.LossMask, LogProbs: t.LogProbs, Versions: t.Versions, Reward: r.Value, Advantage: -0.25,
		Weight: 1, Termination: t.Termination, GroupMembers: 2, GroupWeighing: 2, GroupSize: 2, Turns: 1, Tools: []string{"execute_bash"}}
}

func exampleUpdate(n int) schemas.Update {
	return schemas.Update{Run: "r", Step: int64(n), SampleIDs: []string{"a", "b"}, GroupIDs: []string{"g"},
		Positions: []schemas.Position{{Topic: "r.samples", Partition: 1, Offset: 9}}, ConfigHash: "c0ffee", WeightsDigest: "5eed",
		Metrics: []schemas.Metric{{Name: "actor/pg_loss", Value: -0.125}}, Started: 1, Finished: 2}
}

func exampleLetter(n int) schemas.DeadLetter {
	return schemas.DeadLetter{ID: fmt.Sprint("learn/", n), Stage: "learn", Reason: schemas.Stale, Message: "4 behind", Key: []byte("k\x00"),
		Payload: []byte{0xff, 0}, Source: schemas.Position{Topic: "r.samples", Offset: int64(n)}, Attempts: 1, Time: 3}
}

// broker starts a broker with the topics, two partitions each.
func broker(t *testing.T) string {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, topics.Rewarded, topics.Samples, topics.Ledger, topics.DeadLetters))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.ListenAddrs()[0]
}

func produce[T interface{ Validate() error }](t *testing.T, brokers, topic string, c *schemas.Codec[T], rows ...T) {
	t.Helper()
	frame, err := c.Encode(rows...)
	if err != nil {
		t.Fatal(err)
	}
	raw(t, brokers, topic, frame)
}

func raw(t *testing.T, brokers, topic string, values ...[]byte) {
	t.Helper()
	var out []kafkaio.Output
	for _, v := range values {
		// One key, one partition: the order of what is read is that of what is
		// written.
		out = append(out, kafkaio.Output{Topic: topic, Key: []byte("k"), Value: v})
	}
	if err := kafkaio.Produce(t.Context(), brokers, out...); err != nil {
		t.Fatal(err)
	}
}

// readBack returns the rows of a Parquet file and the number of its row groups.
func readBack[T interface{ Validate() error }](t *testing.T, path string, c *schemas.Codec[T]) (rows []T, groups int) {
	t.Helper()
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reader, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: 1024}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	records, err := reader.GetRecordReader(context.Background(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Release()
	for records.Next() {
		got, err := c.Rows(records.Record())
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, got...)
	}
	return rows, f.NumRowGroups()
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
}

func TestEveryTopicBecomesItsFile(t *testing.T) {
	brokers, dir := broker(t), filepath.Join(t.ArtifactDir(), "data")
	tombstone := schemas.Reward{Failure: "no namespace", Trajectory: schemas.Trajectory{ID: "t#0.2", GroupID: "t",
		Task: schemas.Task{ID: "t"}, Termination: schemas.Failed, Failure: "no namespace"}}
	produce(t, brokers, topics.Rewarded, schemas.Rewards, exampleReward(1), exampleReward(2))
	produce(t, brokers, topics.Rewarded, schemas.Rewards, tombstone)
	produce(t, brokers, topics.Samples, schemas.Samples, exampleSample(1))
	produce(t, brokers, topics.Ledger, schemas.Updates, exampleUpdate(1), exampleUpdate(2))
	produce(t, brokers, topics.DeadLetters, schemas.DeadLetters, exampleLetter(1))
	tables, err := Parquet(t.Context(), brokers, topics, dir)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, table := range tables {
		lines = append(lines, strings.TrimPrefix(table.String(), dir+"/"))
	}
	same(t, lines, []string{"trajectories.parquet: 3 rows", "samples.parquet: 1 rows", "updates.parquet: 2 rows", "dead_letters.parquet: 1 rows"})
	rewards, _ := readBack(t, filepath.Join(dir, "trajectories.parquet"), schemas.Rewards)
	same(t, rewards, []schemas.Reward{exampleReward(1), exampleReward(2), tombstone})
	samples, _ := readBack(t, filepath.Join(dir, "samples.parquet"), schemas.Samples)
	same(t, samples, []schemas.Sample{exampleSample(1)})
	updates, _ := readBack(t, filepath.Join(dir, "updates.parquet"), schemas.Updates)
	same(t, updates, []schemas.Update{exampleUpdate(1), exampleUpdate(2)})
	letters, _ := readBack(t, filepath.Join(dir, "dead_letters.parquet"), schemas.DeadLetters)
	same(t, letters, []schemas.DeadLetter{exampleLetter(1)})
}

// TestNothingVanishes: rows, duplicates and what could not be decoded add up to
// what was on the topic.
func TestNothingVanishes(t *testing.T) {
	brokers, dir := broker(t), t.TempDir()
	produce(t, brokers, topics.Ledger, schemas.Updates, exampleUpdate(1))
	raw(t, brokers, topics.Ledger, []byte("no frame"), nil)
	produce(t, brokers, topics.Ledger, schemas.Updates, exampleUpdate(1), exampleUpdate(2)) // written again after a crash
	produce(t, brokers, topics.Ledger, schemas.DeadLetters, exampleLetter(1))               // another schema
	tables, err := Parquet(t.Context(), brokers, Topics{Ledger: topics.Ledger}, dir)
	if err != nil {
		t.Fatal(err)
	}
	got := tables[0]
	if got.Rows != 2 || got.Duplicates != 1 || got.Undecodable != 3 || !errors.Is(got.Problem, schemas.ErrCorrupt) {
		t.Errorf("table is %v", got)
	}
	for _, part := range []string{"1 duplicates left out", "3 records could not be decoded", "r.ledger[", "offset 1: decoding update"} {
		if !strings.Contains(got.String(), part) {
			t.Errorf("%q does not say %q", got, part)
		}
	}
	rows, _ := readBack(t, got.File, schemas.Updates)
	same(t, rows, []schemas.Update{exampleUpdate(1), exampleUpdate(2)})
}

func TestEmptyTopicBecomesAFileWithoutRows(t *testing.T) {
	brokers, dir := broker(t), t.TempDir()
	tables, err := Parquet(t.Context(), brokers, Topics{Samples: topics.Samples}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if rows, _ := readBack(t, tables[0].File, schemas.Samples); len(rows) != 0 {
		t.Errorf("%d rows", len(rows))
	}
}

func TestFailedExportLeavesTheOldFile(t *testing.T) {
	brokers, dir := broker(t), t.TempDir()
	path := filepath.Join(dir, "updates.parquet")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	produce(t, brokers, topics.Ledger, schemas.Updates, exampleUpdate(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Parquet(ctx, brokers, Topics{Ledger: topics.Ledger}, dir)
	if err == nil || !strings.Contains(err.Error(), "exporting topic r.ledger to "+path) {
		t.Errorf("error is %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(path)
	if err != nil || string(old) != "old" || len(entries) != 1 {
		t.Errorf("%s is %q (%v) among %d files", path, old, err, len(entries))
	}
}

// TestRowGroupsAreBounded: rows are written when a group is full by number or by
// size, and the groups' rows are all rows in order.
func TestRowGroupsAreBounded(t *testing.T) {
	for _, c := range []struct {
		name         string
		rows, bytes  int
		groups, held int
	}{
		{"by number", 2*groupRows + 1, 1, 3, groupRows},
		{"by size", 5, groupBytes / 2, 3, 2},
	} {
		path := filepath.Join(t.TempDir(), "u.parquet")
		f, err := create(path, &held{Codec: schemas.Updates})
		if err != nil {
			t.Fatal(err)
		}
		var want []int64
		for n := 1; n <= c.rows; n++ {
			want = append(want, int64(n))
			if err := f.add(schemas.Update{Step: int64(n)}, c.bytes); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.commit(); err != nil {
			t.Fatal(err)
		}
		if most := f.codec.(*held).most; most != c.held {
			t.Errorf("%s: a group had %d rows, want %d", c.name, most, c.held)
		}
		rows, groups := readBack(t, path, schemas.Updates)
		var got []int64
		for _, r := range rows {
			got = append(got, r.Step)
		}
		if groups != c.groups || !slices.Equal(got, want) {
			t.Errorf("%s: %d groups of %d rows, want %d of %d in order", c.name, groups, len(got), c.groups, len(want))
		}
	}
}

// held counts the rows handed over at once.
type held struct {
	*schemas.Codec[schemas.Update]
	most int
}

func (h *held) Record(rows ...schemas.Update) arrow.Record {
	h.most = max(h.most, len(rows))
	return h.Codec.Record(rows...)
}
