package export

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kfake"

	"millrace/pipelines/dataset"
	"millrace/pipelines/journal"
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

// readBack returns the rows of a table by day.
func readBack[T any](t *testing.T, dir, table string, c dataset.Codec[T]) map[string][]T {
	t.Helper()
	files, err := dataset.Find(dir, table)
	if err != nil {
		t.Fatal(err)
	}
	days := map[string][]T{}
	for _, f := range files {
		days[f.Day] = nil
		err := dataset.Read(t.Context(), f, c, func(row T) error {
			days[f.Day] = append(days[f.Day], row)
			return nil
		})
		if err != nil || f.Run != "r" {
			t.Fatalf("%s of run %q: %v", f.Path, f.Run, err)
		}
	}
	return days
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
}

// day is the times of examples: 2026-11-20T23:59:59.999999Z and the instant
// behind it.
const (
	lastOfDay   = 1795219199999999
	firstOfNext = lastOfDay + 1
)

func TestEveryTopicBecomesItsTable(t *testing.T) {
	brokers, dir := broker(t), filepath.Join(t.ArtifactDir(), "data")
	early, late := exampleReward(1), exampleReward(2)
	early.Trajectory.Finished, late.Trajectory.Finished = lastOfDay, firstOfNext
	tombstone := schemas.Reward{Failure: "no namespace", Trajectory: schemas.Trajectory{ID: "t#0.2", GroupID: "t",
		Task: schemas.Task{ID: "t"}, Termination: schemas.Failed, Failure: "no namespace", Finished: lastOfDay}}
	first, second := exampleUpdate(1), exampleUpdate(2)
	first.Finished, second.Finished = lastOfDay, lastOfDay
	letter := exampleLetter(1)
	letter.Time = firstOfNext
	produce(t, brokers, topics.Rewarded, schemas.Rewards, early, late)
	produce(t, brokers, topics.Rewarded, schemas.Rewards, tombstone)
	produce(t, brokers, topics.Samples, schemas.Samples, exampleSample(1))
	produce(t, brokers, topics.Ledger, schemas.Updates, first, second)
	produce(t, brokers, topics.DeadLetters, schemas.DeadLetters, letter)
	recorded := journal.Record{
		Steps: []journal.Step{{Number: 1, Time: time.UnixMicro(lastOfDay), Metrics: map[string]float64{"actor/lr": 1e-4, "a": 2}}},
	}
	tables, err := Run(t.Context(), brokers, "r", topics, recorded, dir)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, table := range tables {
		lines = append(lines, strings.TrimPrefix(table.String(), dir+"/"))
	}
	same(t, lines, []string{"trajectories: 3 rows", "samples: 1 rows", "ledger: 2 rows", "dead_letters: 1 rows", "metrics: 2 rows"})
	const day, next = "2026-11-20", "2026-11-21"
	same(t, readBack(t, dir, Trajectories, schemas.Rewards), map[string][]schemas.Reward{day: {early, tombstone}, next: {late}})
	same(t, readBack(t, dir, Ledger, schemas.Updates), map[string][]schemas.Update{day: {first, second}})
	same(t, readBack(t, dir, DeadLetters, schemas.DeadLetters), map[string][]schemas.DeadLetter{next: {letter}})
	same(t, readBack(t, dir, Metrics, schemas.Measurements), map[string][]schemas.Measurement{day: {
		{Run: "r", Step: 1, Name: "a", Value: 2, Time: lastOfDay}, {Run: "r", Step: 1, Name: "actor/lr", Value: 1e-4, Time: lastOfDay},
	}})
}

// TestRecordWithoutATime: its day is that on which the broker was given it.
func TestRecordWithoutATime(t *testing.T) {
	brokers, dir := broker(t), t.TempDir()
	produce(t, brokers, topics.Samples, schemas.Samples, exampleSample(1))
	var written int64
	err := kafkaio.Scan(t.Context(), brokers, topics.Samples, &kafkaio.Latest, func(r kafkaio.Record) error {
		written = r.Time
		return nil
	})
	if err != nil || written == 0 {
		t.Fatalf("the record was written at %d: %v", written, err)
	}
	if _, err := Run(t.Context(), brokers, "r", Topics{Samples: topics.Samples}, journal.Record{}, dir); err != nil {
		t.Fatal(err)
	}
	want := time.UnixMilli(written).UTC().Format("2006-01-02")
	same(t, readBack(t, dir, Samples, schemas.Samples), map[string][]schemas.Sample{want: {exampleSample(1)}})
}

// TestNothingVanishes: rows, duplicates and what could not be decoded add up to
// what was on the topic.
func TestNothingVanishes(t *testing.T) {
	brokers, dir := broker(t), t.TempDir()
	produce(t, brokers, topics.Ledger, schemas.Updates, exampleUpdate(1))
	raw(t, brokers, topics.Ledger, []byte("no frame"), nil)
	produce(t, brokers, topics.Ledger, schemas.Updates, exampleUpdate(1), exampleUpdate(2)) // written again after a crash
	produce(t, brokers, topics.Ledger, schemas.DeadLetters, exampleLetter(1))               // another schema
	tables, err := Run(t.Context(), brokers, "r", Topics{Ledger: topics.Ledger}, journal.Record{}, dir)
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
	same(t, readBack(t, dir, Ledger, schemas.Updates), map[string][]schemas.Update{"1970-01-01": {exampleUpdate(1), exampleUpdate(2)}})
}

// TestFailedExportLeavesTheOldFiles: a data set is replaced when the new one is
// whole.
func TestFailedExportLeavesTheOldFiles(t *testing.T) {
	brokers, dir := broker(t), t.TempDir()
	produce(t, brokers, topics.Ledger, schemas.Updates, exampleUpdate(1))
	if _, err := Run(t.Context(), brokers, "r", Topics{Ledger: topics.Ledger}, journal.Record{}, dir); err != nil {
		t.Fatal(err)
	}
	produce(t, brokers, topics.Ledger, schemas.Updates, exampleUpdate(2))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, brokers, "r", Topics{Ledger: topics.Ledger}, journal.Record{}, dir)
	if err == nil || !strings.Contains(err.Error(), "exporting run r to "+dir) {
		t.Errorf("error is %v", err)
	}
	same(t, readBack(t, dir, Ledger, schemas.Updates), map[string][]schemas.Update{"1970-01-01": {exampleUpdate(1)}})
}
