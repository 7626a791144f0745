package reprocess_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"millrace/pipelines/dataset"
	"millrace/pipelines/export"
	"millrace/pipelines/reprocess"
	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/filter"
	"millrace/transforms/kafkaio"
)

// original runs the streaming stage over the topics of a run until each of its groups
// has left.
func original(t *testing.T, brokers string, topics stage.Topics, mode, formula string, groups int) {
	t.Helper()
	s := stage.Stream{Brokers: brokers, Topics: topics, Job: t.Name() + ".advantage"}
	job, err := start(t.Context(), s.Job, stage.Advantage(s, filter.Config{Mode: mode}, estimator(formula)))
	if err != nil {
		t.Fatal(err)
	}
	defer job.Cancel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	seen := map[string]bool{}
	err = kafkaio.Scan(ctx, brokers, topics.Samples, nil, func(r kafkaio.Record) error {
		if seen[string(r.Key)] = true; len(seen) == groups {
			return kafkaio.ErrEnough
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%d of %d groups: %v", len(seen), groups, err)
	}
}

// TestReplayIsDeterministic (invariant 5): with the settings of the original run the
// samples are those of its topic, byte for byte, from its topic and from its Parquet
// files, in whatever number of lanes; and the report says that nothing changed.
func TestReplayIsDeterministic(t *testing.T) {
	brokers, data := broker(t), t.TempDir()
	rewards := log("r")
	topics := produce(t, brokers, "r", 3, rewards)
	files(t, data, "r", rewards)
	original(t, brokers, topics, filter.Compact, "leave-one-out", 24)
	want := frames(t, brokers, topics.Samples)
	before, err := reprocess.OriginalsOfTopic(t.Context(), brokers, topics.Samples)
	if err != nil || len(before) != 96 {
		t.Fatalf("%d original samples, %v", len(before), err)
	}
	for lanes := 1; lanes <= 4; lanes++ {
		parquet, err := reprocess.OpenParquet(t.Context(), data, "r", lanes)
		if err != nil {
			t.Fatal(err)
		}
		for name, source := range map[string]reprocess.Source{"topic": openTopic(t, brokers, topics.Rewarded, nil, lanes), "parquet": parquet} {
			t.Run(fmt.Sprintf("%s in %d lanes", name, lanes), func(t *testing.T) {
				out, sink := topicSink(t, brokers, fmt.Sprintf("%s-%d", name, lanes), 2, lanes, false)
				report := must(t, reprocess.Config{Source: source, Sink: sink, Originals: before,
					Filter: filter.Config{Mode: filter.Compact}, Advantage: estimator("leave-one-out")})
				if diff := cmp.Diff(want, frames(t, brokers, out.Samples)); diff != "" {
					t.Errorf("samples by group (-original +reprocessed):\n%.2000s", diff)
				}
				a := report.Advantages
				if a.Compared != 96 || a.Equal != 96 || a.Changed != 0 || len(report.Moves) != 0 || report.Rewards.Rose+report.Rewards.Fell != 0 {
					t.Errorf("the report tells changes: %+v, %v, %+v", a, report.Moves, report.Rewards)
				}
				if c := report.Records; c.Read != 98 || c.Samples != 96 || c.Repeats != 2 || c.Refused != 0 {
					t.Errorf("records %+v, want 98 read: 96 samples and 2 repeats", c)
				}
				if g := report.Groups; g.Closed != 24 || g.Short != 0 || g.Teaching.Before != g.Teaching.After || g.Teaching.After == 0 {
					t.Errorf("groups %+v", g)
				}
			})
		}
	}
}

// TestReportIsWhatAnIndependentCountFinds: the report of other settings says what one
// finds by counting the samples of both runs by hand.
func TestReportIsWhatAnIndependentCountFinds(t *testing.T) {
	brokers := broker(t)
	topics := produce(t, brokers, "r", 2, log("r"))
	original(t, brokers, topics, filter.Compact, "leave-one-out", 24)
	before, err := reprocess.OriginalsOfTopic(t.Context(), brokers, topics.Samples)
	if err != nil {
		t.Fatal(err)
	}
	out, sink := topicSink(t, brokers, "again", 2, 2, false)
	report := must(t, reprocess.Config{Source: openTopic(t, brokers, topics.Rewarded, nil, 2), Sink: sink, Originals: before,
		Filter: filter.Config{Mode: filter.None}, Advantage: estimator("standardized")})

	samples := func(topic string) map[string]schemas.Sample {
		byID := map[string]schemas.Sample{}
		for _, values := range frames(t, brokers, topic) {
			for _, v := range values {
				rows, err := schemas.Samples.Decode([]byte(v))
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range rows {
					byID[s.ID] = s
				}
			}
		}
		return byID
	}
	old, now := samples(topics.Samples), samples(out.Samples)
	fate := func(s schemas.Sample) string {
		switch {
		case s.Excluded != "":
			return "left out: " + s.Excluded
		case slices.Contains(s.LossMask, true):
			return "kept"
		}
		return "masked: " + string(s.Termination)
	}
	fates, moves := map[string]reprocess.Change{}, map[string]int64{}
	changed, delta := int64(0), 0.0
	teaching := [2]map[string]bool{{}, {}}
	for id, s := range now {
		a, b := fate(old[id]), fate(s)
		c := fates[a]
		c.Before++
		fates[a] = c
		c = fates[b]
		c.After++
		fates[b] = c
		if a != b {
			moves[a+" -> "+b]++
		}
		if s.Advantage != old[id].Advantage {
			changed++
			delta = max(delta, math.Abs(s.Advantage-old[id].Advantage))
		}
		for i, x := range []schemas.Sample{old[id], s} {
			if x.Advantage != 0 && slices.Contains(x.LossMask, true) {
				teaching[i][x.GroupID] = true
			}
		}
	}
	got := map[string]reprocess.Change{}
	for name, c := range report.Fates {
		got[name] = *c
	}
	if diff := cmp.Diff(fates, got); diff != "" {
		t.Errorf("fates (-counted +reported):\n%s", diff)
	}
	if diff := cmp.Diff(moves, report.Moves); diff != "" || len(moves) == 0 {
		t.Errorf("moves (-counted +reported):\n%s", diff)
	}
	if a := report.Advantages; a.Compared != int64(len(now)) || a.Changed != changed || a.MaxDelta != delta || changed == 0 {
		t.Errorf("advantages %+v, counted %d changed by at most %v", a, changed, delta)
	}
	want := reprocess.Change{Before: int64(len(teaching[0])), After: int64(len(teaching[1]))}
	if report.Groups.Teaching != want || want.After == 0 {
		t.Errorf("groups that teach %+v, counted %+v", report.Groups.Teaching, want)
	}
}

// TestNothingVanishes (invariant 6): broken records, members that contradict their
// group and short groups are all in the report, and what does not become a sample is a
// dead letter with its bytes.
func TestNothingVanishes(t *testing.T) {
	brokers := broker(t)
	var rewards []schemas.Reward
	for rollout := range int32(4) {
		rewards = append(rewards, scored(trajectory("r", 0, "whole", rollout, 4, 64), 1))
		if rollout < 2 {
			rewards = append(rewards, scored(trajectory("r", 0, "short", rollout, 4, 64), float64(rollout)))
		}
	}
	twice := scored(trajectory("r", 0, "whole", 1, 4, 64), 0) // another reward under the id
	rewards = append(rewards, twice, scored(trajectory("r", 0, "whole", 3, 5, 64), 1))
	topics := produce(t, brokers, "r", 2, rewards)
	if err := kafkaio.Produce(t.Context(), brokers, kafkaio.Output{Topic: topics.Rewarded, Key: []byte("k"), Value: []byte("no frame")}); err != nil {
		t.Fatal(err)
	}
	out, sink := topicSink(t, brokers, "again", 2, 2, false)
	report := must(t, reprocess.Config{Source: openTopic(t, brokers, topics.Rewarded, nil, 2), Sink: sink,
		Filter: filter.Config{Mode: filter.Compact}, Advantage: estimator("leave-one-out")})
	c := report.Records
	if c.Read != 8 || c.Undecodable != 1 || c.Samples != 6 || c.Refused != 2 || c.Repeats != 0 {
		t.Errorf("records %+v", c)
	}
	if want := map[string]int64{"corrupt": 1, "duplicate": 1, "invalid": 1}; !maps.Equal(want, c.DeadLetters) {
		t.Errorf("dead letters %v, want %v", c.DeadLetters, want)
	}
	if g := report.Groups; g.Closed != 2 || g.Short != 1 {
		t.Errorf("groups %+v", g)
	}
	for key, values := range frames(t, brokers, out.DeadLetters) {
		for _, v := range values {
			letters, err := schemas.DeadLetters.Decode([]byte(v))
			if err != nil || letters[0].Time == 0 || letters[0].Source.Topic != topics.Rewarded || len(letters[0].Payload) == 0 {
				t.Errorf("letter under %q: %+v, %v", key, letters, err)
			}
		}
	}
}

// TestSelection: a range of offsets and a range of times take what lies in them.
func TestSelection(t *testing.T) {
	brokers, data := broker(t), t.TempDir()
	rewards := log("r")
	topics := produce(t, brokers, "r", 1, rewards)
	files(t, data, "r", rewards)
	all := openTopic(t, brokers, topics.Rewarded, nil, 1)
	parquet, err := reprocess.OpenParquet(t.Context(), data, "r", 2)
	if err != nil {
		t.Fatal(err)
	}
	between := reprocess.Selection{Since: time.UnixMicro(day + 3e6), Until: time.UnixMicro(day + 5e6)}
	for _, c := range []struct {
		name          string
		source        reprocess.Source
		selection     reprocess.Selection
		read, skipped int64
	}{
		{"offsets", openTopic(t, brokers, topics.Rewarded, []reprocess.Offsets{{Partition: 0, Start: 8, End: 24}}, 1), reprocess.Selection{}, 16, 0},
		{"times on a topic", all, between, 16, 82},
		{"times in files", parquet, between, 16, 82},
		{"groups", all, reprocess.Selection{Group: func(id string) bool { return strings.HasPrefix(id, "r/2/") }}, 8, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, sink := topicSink(t, brokers, "again-"+strings.ReplaceAll(c.name, " ", "-"), 1, c.source.Lanes(), false)
			report := must(t, reprocess.Config{Source: c.source, Selection: c.selection, Sink: sink,
				Filter: filter.Config{Mode: filter.Compact}, Advantage: estimator("leave-one-out")})
			if r := report.Records; r.Read != c.read || r.Skipped != c.skipped || r.Samples != c.read {
				t.Errorf("records %+v, want %d read and %d skipped", r, c.read, c.skipped)
			}
		})
	}
	for name, offsets := range map[string]reprocess.Offsets{
		"there is no partition 1": {Partition: 1, Start: 0, End: 1},
		"the log holds 0-98":      {Partition: 0, Start: 90, End: 99},
	} {
		if _, err := reprocess.OpenTopic(t.Context(), brokers, topics.Rewarded, []reprocess.Offsets{offsets}, 1); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: %v, want %q", offsets, err, name)
		}
	}
}

// halver halves rewards, and fails for one rollout.
type halver struct{}

func (halver) Grade(_ context.Context, r schemas.Reward) (schemas.Reward, error) {
	if r.Trajectory.Rollout == 3 && r.Failure == "" {
		r.Value, r.Failure = 0, "no idea"
	}
	r.Value /= 2
	return r, nil
}

// TestParquetOutput: the data sets of a new run hold the samples, the trajectories with
// their new rewards and the letters of those that could not be graded, partitioned by
// run and day; the original's files stay as they are, and the name cannot be used
// again.
func TestParquetOutput(t *testing.T) {
	data := t.TempDir()
	rewards := log("r")
	files(t, data, "r", rewards)
	input := contents(t, data)
	source, err := reprocess.OpenParquet(t.Context(), data, "r", 2)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := reprocess.NewParquetSink(data, "new", source.Lanes(), true)
	if err != nil {
		t.Fatal(err)
	}
	report := must(t, reprocess.Config{Source: source, Sink: sink, Grader: halver{}, InFlight: 3,
		Filter: filter.Config{Mode: filter.Compact}, Advantage: estimator("centered")})
	for path, want := range input {
		if got := contents(t, data)[path]; got != want {
			t.Errorf("%s has changed", path)
		}
	}
	wantLost, wantLetters := int64(0), int64(0)
	for _, r := range rewards {
		if r.Trajectory.Rollout == 3 && r.Failure == "" {
			wantLost++
			wantLetters++
		} else if r.Failure != "" && r.Trajectory.Termination != schemas.Failed {
			wantLetters++ // it had no reward and has none
		}
	}
	if w := report.Rewards; w.Lost != wantLost || w.Rose != 0 || w.Fell == 0 || report.Records.DeadLetters["scoring_failure"] != wantLetters {
		t.Errorf("rewards %+v, letters %v; want %d lost", w, report.Records.DeadLetters, wantLost)
	}
	samples := rows(t, data, export.Samples, schemas.Samples)
	again := rows(t, data, export.Trajectories, schemas.Rewards)
	letters := rows(t, data, export.DeadLetters, schemas.DeadLetters)
	if len(samples) != 96 || len(again) != len(rewards) || int64(len(letters)) != wantLetters {
		t.Errorf("%d samples, %d trajectories, %d letters", len(samples), len(again), len(letters))
	}
	for _, r := range again {
		want, _ := halver{}.Grade(t.Context(), find(rewards, r.Trajectory.ID))
		if diff := cmp.Diff(want, r, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("trajectory (-want +got):\n%s", diff)
		}
	}
	for _, s := range samples {
		if failed := find(rewards, s.ID).Failure != "" || s.Rollout == 3; failed != (s.Excluded == filter.Unscored || s.Excluded == string(schemas.Failed)) {
			t.Errorf("sample %s is excluded by %q", s.ID, s.Excluded)
		}
	}
	if _, err := reprocess.NewParquetSink(data, "new", 1, false); err == nil || !strings.Contains(err.Error(), "run=new is there already") {
		t.Errorf("a second run of the name: %v", err)
	}
	if _, err := reprocess.OpenParquet(t.Context(), data, "nwe", 1); err == nil || !strings.Contains(err.Error(), `no trajectories of run "nwe"`) {
		t.Errorf("a misspelt run: %v", err)
	}
}

func find(rewards []schemas.Reward, id string) schemas.Reward {
	i := slices.IndexFunc(rewards, func(r schemas.Reward) bool { return r.Trajectory.ID == id })
	return rewards[i]
}

// rows are the rows of the run "new", each in the partition of its day.
func rows[T any](t *testing.T, dir, table string, codec dataset.Codec[T]) []T {
	t.Helper()
	found, err := reprocess.Files(dir, table, "new")
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	for _, f := range found {
		if err := dataset.Read(t.Context(), f, codec, func(row T) error {
			out = append(out, row)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// stuck fails when it is told to grade.
type stuck struct{ err error }

func (s stuck) Grade(context.Context, schemas.Reward) (schemas.Reward, error) {
	return schemas.Reward{}, s.err
}

// TestFailedRunLeavesNothing: what was not committed is not there, and a topic that was
// written to is not taken for another run.
func TestFailedRunLeavesNothing(t *testing.T) {
	data := t.TempDir()
	files(t, data, "r", log("r"))
	source, err := reprocess.OpenParquet(t.Context(), data, "r", 2)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := reprocess.NewParquetSink(data, "new", source.Lanes(), true)
	if err != nil {
		t.Fatal(err)
	}
	_, err = reprocess.Run(t.Context(), start, reprocess.Config{Name: t.Name(), Source: source, Sink: sink, Grader: stuck{errors.New("the grader is gone")},
		Filter: filter.Config{Mode: filter.Compact}, Advantage: estimator("centered")})
	if err == nil || !strings.Contains(err.Error(), "the grader is gone") {
		t.Errorf("error %v", err)
	}
	if left, err := reprocess.Files(data, export.Samples, "new"); err == nil {
		t.Errorf("files %v are there", left)
	}
	brokers := broker(t)
	topics := produce(t, brokers, "held", 2, log("r")[:8])
	if _, err := reprocess.NewTopicSink(t.Context(), brokers, topics, stage.TopicSettings{Partitions: 2}, 1, false); err == nil || !strings.Contains(err.Error(), "held.rewarded has been written to already") {
		t.Errorf("topics of another run: %v", err)
	}
}

func FuzzParseOffsets(f *testing.F) {
	for _, text := range []string{"0:100-200", "12:0-1", "1:5-5", "a:1-2", "0:1", "99999999999:0-1", "0:9223372036854775808-1", "-1:0-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := reprocess.ParseOffsets(text)
		if err != nil {
			if !strings.Contains(err.Error(), "want PARTITION:FROM-TO") {
				t.Errorf("%v does not say what to write", err)
			}
			return
		}
		if o.Partition < 0 || o.Start < 0 || o.End <= o.Start {
			t.Errorf("%q is %+v", text, o)
		}
		if again, err := reprocess.ParseOffsets(o.String()); err != nil || again != o {
			t.Errorf("%q is %+v, whose text %q is %+v, %v", text, o, o, again, err)
		}
	})
}
