package local

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"millrace/pipelines/dataset"
	"millrace/pipelines/reprocess"
	"millrace/pipelines/stage"
	"millrace/runners/embedded"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// again reprocesses the run in base/run into base/name and returns the report.
func again(t *testing.T, base, name string, edit func(*ReprocessOptions)) reprocess.Report {
	t.Helper()
	o := options(t, base, name, edit)
	if err := Reprocess(t.Context(), o); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text, err := os.ReadFile(filepath.Join(base, name, reportFile))
	if err != nil {
		t.Fatal(err)
	}
	var report reprocess.Report
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	return report
}

func options(t *testing.T, base, name string, edit func(*ReprocessOptions)) ReprocessOptions {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	o := ReprocessOptions{From: filepath.Join(base, "run"), Out: filepath.Join(base, name), Output: tableOutput, Answer: out, Screen: out, Reward: RewardOptions{InFlight: 4, Timeout: time.Minute}}
	edit(&o)
	return o
}

// sampleRecords are the records of a run's samples topic by group.
func sampleRecords(t *testing.T, dir, run string) map[string]string {
	t.Helper()
	b, err := embedded.StartBroker(embedded.BrokerConfig{Dir: filepath.Join(dir, "broker")})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	out := map[string]string{}
	err = kafkaio.Scan(t.Context(), b.Addr(), stage.TopicsOf(run).Samples, &kafkaio.Latest, func(r kafkaio.Record) error {
		out[string(r.Key)] = string(r.Value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sampleRows are the rows of a run's data set by id.
func sampleRows(t *testing.T, dir string) map[string]schemas.Sample {
	t.Helper()
	found, err := dataset.Find(filepath.Join(dir, "data"), "samples")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]schemas.Sample{}
	for _, f := range found {
		if err := dataset.Read(t.Context(), f, schemas.Samples, func(s schemas.Sample) error {
			s.Run = "" // it is the path's
			out[s.ID] = s
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// digests are the weights of each step.
func digests(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	for i, u := range ledgerOf(t, dir) {
		if u.Step != int64(i+1) {
			t.Fatalf("line %d of the ledger of %s is step %d", i+1, dir, u.Step)
		}
		out = append(out, u.WeightsDigest)
	}
	return out
}

// TestReplayIsDeterministic (invariant 5): a real run of three steps, reprocessed with
// its own settings, gives its samples to the byte and its weights to the bit; with
// others it gives what they say.
func TestReplayIsDeterministic(t *testing.T) {
	base := t.TempDir()
	run := filepath.Join(base, "run")
	finish(t, run, false)
	want, steps := sampleRecords(t, run, "small"), digests(t, run)
	if len(want) != 6 || len(steps) != 3 {
		t.Fatalf("the run has %d groups and %d steps", len(want), len(steps))
	}
	unchanged := func(t *testing.T, r reprocess.Report) {
		t.Helper()
		if a := r.Advantages; a.Compared != 24 || a.Equal != 24 || a.Changed != 0 || len(r.Moves) != 0 || r.Rewards.Rose+r.Rewards.Fell+r.Rewards.Lost+r.Rewards.Gained != 0 {
			t.Errorf("the report tells changes: %+v, %v, %+v", a, r.Moves, r.Rewards)
		}
	}
	t.Run("topics", func(t *testing.T) {
		unchanged(t, again(t, base, "topics", func(o *ReprocessOptions) { o.Topics = true }))
		if diff := cmp.Diff(want, sampleRecords(t, filepath.Join(base, "topics"), "topics")); diff != "" {
			t.Errorf("samples by group (-original +reprocessed):\n%.2000s", diff)
		}
	})
	t.Run("files", func(t *testing.T) {
		unchanged(t, again(t, base, "files", func(o *ReprocessOptions) { o.Parquet, o.Reward.Kind = true, recordedReward }))
		if diff := cmp.Diff(sampleRows(t, run), sampleRows(t, filepath.Join(base, "files"))); diff != "" {
			t.Errorf("samples (-original +reprocessed):\n%.2000s", diff)
		}
	})
	t.Run("a directory of data sets, tests run again", func(t *testing.T) {
		unchanged(t, again(t, base, "tests", func(o *ReprocessOptions) {
			o.From, o.Run, o.Reward.Kind = filepath.Join(run, "data"), "small", testsReward
		}))
	})
	t.Run("weights", func(t *testing.T) {
		r := again(t, base, "weights", func(o *ReprocessOptions) { o.Train = true })
		unchanged(t, r)
		if diff := cmp.Diff(steps, digests(t, filepath.Join(base, "weights"))); diff != "" {
			t.Errorf("weights of the steps (-original +trained again):\n%s", diff)
		}
		if tr := r.Train; tr.EqualSteps != 3 || tr.First != 1 || tr.Last != 3 || tr.Consumed != 24 || tr.Dropped+tr.Held != 0 {
			t.Errorf("training %+v", tr)
		}
		balanced(t, filepath.Join(base, "weights"))
	})
	t.Run("from a step that was not kept, with another rate", func(t *testing.T) {
		one := int64(1)
		r := again(t, base, "fork", func(o *ReprocessOptions) {
			o.FromStep, o.Set = &one, []string{"learn.learning_rate=1e-3"}
		})
		got := digests(t, filepath.Join(base, "fork"))
		if len(got) != 3 || got[0] != steps[0] || got[1] == steps[1] || got[2] == steps[2] {
			t.Errorf("weights %v; the original's are %v, and the first alone should be equal", got, steps)
		}
		if tr := r.Train; tr.Replayed != 1 || tr.First != 2 || tr.Last != 3 || tr.EqualSteps != 0 || tr.Consumed != 16 {
			t.Errorf("training %+v", tr)
		}
		balanced(t, filepath.Join(base, "fork"))
	})
	t.Run("from a step that was kept, with the same settings", func(t *testing.T) {
		two := int64(2)
		r := again(t, base, "kept", func(o *ReprocessOptions) { o.FromStep = &two })
		if got := digests(t, filepath.Join(base, "kept")); !slices.Equal(got, steps) || r.Train.Replayed != 0 || r.Train.EqualSteps != 1 {
			t.Errorf("weights %v, want %v; training %+v", got, steps, r.Train)
		}
	})
	t.Run("another recipe and reward", func(t *testing.T) {
		r := again(t, base, "other", func(o *ReprocessOptions) {
			o.Recipe, o.Filter, o.Reward.Kind = "grpo", "compact", commandReward
			o.Reward.Command = `sed -n 's/.*"rollout":\([0-9]*\),"task".*/0.\1/p'`
		})
		for id, s := range sampleRows(t, filepath.Join(base, "other")) {
			if want := float64(s.Rollout) / 10; s.Reward != want && s.Termination == schemas.Finished {
				t.Errorf("sample %s has reward %v, want %v", id, s.Reward, want)
			}
		}
		if r.Advantages.Changed == 0 || r.Rewards.Failed.After != r.Rewards.Failed.Before || r.Settings["advantage"] != "standardized" || r.Settings["filter"] != "compact" {
			t.Errorf("report %+v", r)
		}
	})
	t.Run("the run is as it was", func(t *testing.T) {
		if diff := cmp.Diff(want, sampleRecords(t, run, "small")); diff != "" {
			t.Errorf("samples of the original changed:\n%.2000s", diff)
		}
		if got := digests(t, run); !slices.Equal(got, steps) {
			t.Errorf("ledger of the original changed: %v", got)
		}
	})
	refused(t, base)
}

// balanced audits a run that began with samples: what made them was another run.
func balanced(t *testing.T, dir string) {
	t.Helper()
	var said strings.Builder
	if err := LedgerAudit(t.Context(), dir, csvOutput, &said); err != nil {
		t.Errorf("%v\n%s", err, said.String())
	}
	var stages []string
	for line := range strings.Lines(said.String()) {
		stages = append(stages, line[:strings.Index(line, ",")])
	}
	if want := []string{"stage", "learn", "ledger"}; !slices.Equal(stages, want) {
		t.Errorf("audited %v, want %v", stages, want)
	}
}

// refused are options that are refused before anything is done, beside a run.
func refused(t *testing.T, base string) {
	three, far := int64(-1), int64(9)
	for name, c := range map[string]struct {
		edit func(*ReprocessOptions)
		want string
	}{
		"the run itself":        {func(o *ReprocessOptions) { o.Out = o.From }, "choose another --out"},
		"no output":             {func(o *ReprocessOptions) { o.Out = "" }, "--out"},
		"unknown filter":        {func(o *ReprocessOptions) { o.Filter = "tight" }, `unknown mode "tight"`},
		"unknown estimator":     {func(o *ReprocessOptions) { o.Advantage = "median" }, `unknown estimator "median"`},
		"unknown reward":        {func(o *ReprocessOptions) { o.Reward.Kind = "luck" }, `--reward "luck"`},
		"command without one":   {func(o *ReprocessOptions) { o.Reward.Kind = commandReward }, "--command"},
		"checkpoint alone":      {func(o *ReprocessOptions) { o.Checkpoint = "x" }, "--checkpoint"},
		"negative step":         {func(o *ReprocessOptions) { o.FromStep = &three }, "--from-step -1"},
		"step never taken":      {func(o *ReprocessOptions) { o.FromStep = &far }, "the run has taken 3 steps"},
		"offsets of files":      {func(o *ReprocessOptions) { o.Parquet, o.Offsets = true, []string{"0:0-1"} }, "--offsets are of a topic"},
		"offsets beyond":        {func(o *ReprocessOptions) { o.Offsets = []string{"0:0-1000"} }, "the log holds"},
		"no such directory":     {func(o *ReprocessOptions) { o.From += "-not" }, "name the run in it by --run"},
		"no source":             {func(o *ReprocessOptions) { o.From = "" }, "what is read"},
		"times the wrong way":   {func(o *ReprocessOptions) { o.Since, o.Until = time.Unix(2, 0), time.Unix(1, 0) }, "is not before"},
		"misspelt setting":      {func(o *ReprocessOptions) { o.Set = []string{"group_sise=2"} }, "did you mean group_size?"},
		"step of a bare folder": {func(o *ReprocessOptions) { o.From += "/data"; o.Run = "small"; o.FromStep = new(int64) }, "--from-step needs the run directory"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Reprocess(context.Background(), options(t, base, "refused-"+strings.ReplaceAll(name, " ", "-"), c.edit))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
}
