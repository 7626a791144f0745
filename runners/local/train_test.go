package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace/pipelines/dataset"
	"millrace/pipelines/journal"
	"millrace/schemas"
	"millrace/transforms/learn"
)

// childDir names the run directory of a child process, which TestMain turns
// into a training run that the test can kill.
const (
	childDir    = "MILLRACE_TEST_RUN"
	childResume = "MILLRACE_TEST_RESUME"
	childSet    = "MILLRACE_TEST_SET" // more settings of a new run, a line each
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		o := small(dir, os.Getenv(childResume) != "", os.Stdout)
		if set := os.Getenv(childSet); set != "" {
			o.Set = append(o.Set, strings.Split(set, "\n")...)
		}
		if err := Train(context.Background(), o); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 6 && os.Args[1] == "submit" { // a detached job
		if err := Submit(context.Background(), SubmitOptions{JobsDir: os.Args[3], Resume: os.Args[5], Out: os.Stdout}); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "train" { // a run of a matrix
		if err := Train(context.Background(), trainArguments(os.Args[2:])); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 4 && os.Args[1] == "ablate" {
		if err := Ablate(context.Background(), AblateOptions{Matrix: os.Args[2], Dir: os.Args[3], Parallel: 1, Out: os.Stdout}); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// trainArguments reads the command line that a matrix gives its runs.
func trainArguments(args []string) TrainOptions {
	o := TrainOptions{Out: os.Stdout}
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "--resume":
			o.Resume = true
		case "--dir":
			i++
			o.Dir = args[i]
		case "--set":
			i++
			o.Set = append(o.Set, args[i])
		}
	}
	return o
}

// small is a run of three steps on the real thing: sandboxes, tests, topics,
// learner. Its limits of time are wide: what a busy machine cuts short is another
// trajectory, and such runs are compared.
func small(dir string, resume bool, out *os.File) TrainOptions {
	return TrainOptions{Dir: dir, Resume: resume, Out: out, Set: []string{
		"name=small", "steps=3", "groups_per_step=2", "group_size=4", "evaluate.sets=[]",
		"rollout.tools.action_time=5m", "rollout.limits.action_time=1h", "rollout.limits.time=1h",
		"score.test_timeout=5m", "sandbox.cpu_seconds=5",
	}}
}

// child starts a run in a process of its own.
func child(t *testing.T, dir string, resume bool) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childDir+"="+dir)
	if resume {
		c.Env = append(c.Env, childResume+"=1")
	}
	out := &bytes.Buffer{}
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, out
}

func finish(t *testing.T, dir string, resume bool) {
	t.Helper()
	c, out := child(t, dir, resume)
	if err := c.Wait(); err != nil {
		t.Fatalf("run in %s: %v\n%s", dir, err, out)
	}
}

// TestKilledRunEndsWithTheSameWeights (invariant 2): a run that is killed by
// SIGKILL and resumed, twice, takes the samples that an undisturbed run takes, in
// the same steps, each once, and has the same weights after each, although
// most of its records lie in a blob store and its stages stop half way for an
// evaluation.
func TestKilledRunEndsWithTheSameWeights(t *testing.T) {
	base := t.TempDir()
	calm, rough := filepath.Join(base, "calm"), filepath.Join(base, "rough")
	finish(t, calm, false)

	blobs := filepath.Join(base, "blobs")
	t.Setenv(childSet, fmt.Sprintf("kafka.blobs={url: 'file://%s', above: 4096}\nevaluate.every=2", filepath.ToSlash(blobs)))
	c, out := child(t, rough, false)
	killAfterStep(t, c, out, rough, 1)
	t.Setenv(childSet, "") // a run that is resumed has its own configuration
	c, out = child(t, rough, true)
	killAfterStep(t, c, out, rough, 2)
	finish(t, rough, true)

	want, got := ledgerOf(t, calm), ledgerOf(t, rough)
	if len(want) != 3 || len(got) != 3 {
		t.Fatalf("ledgers have %d and %d steps, want 3", len(want), len(got))
	}
	seen := map[string]int64{}
	for i := range want {
		if got[i].Step != int64(i+1) {
			t.Errorf("line %d of the ledger is step %d", i+1, got[i].Step)
		}
		if got[i].WeightsDigest == "" || got[i].WeightsDigest != want[i].WeightsDigest {
			t.Errorf("step %d: weights %q, undisturbed %q", i+1, got[i].WeightsDigest, want[i].WeightsDigest)
		}
		if strings.Join(got[i].SampleIDs, " ") != strings.Join(want[i].SampleIDs, " ") {
			t.Errorf("step %d: samples differ:\n%v\n%v", i+1, got[i].SampleIDs, want[i].SampleIDs)
		}
		for _, id := range got[i].SampleIDs {
			if at := seen[id]; at != 0 {
				t.Errorf("sample %s entered steps %d and %d", id, at, got[i].Step)
			}
			seen[id] = got[i].Step
		}
	}
	if len(seen) != 24 { // 3 steps of 2 groups of 4
		t.Errorf("%d samples entered the steps, want 24", len(seen))
	}
	if info, err := os.Stat(filepath.Join(rough, "report.html")); err != nil || info.Size() == 0 {
		t.Errorf("report: %v", err)
	}
	for _, table := range []string{"trajectories", "samples", "ledger", "dead_letters", "metrics"} {
		if files, err := dataset.Find(filepath.Join(rough, "data"), table); err != nil || len(files) == 0 || files[0].Run != "small" {
			t.Errorf("table %s: files %v, error %v", table, files, err)
		}
	}
	caughtUp(t, TopicsOptions{Dir: rough}, "small", true)
	for topic, least := range map[string]int{"trajectories": 24, "rewarded": 24, "samples": 6} {
		if kept, err := filepath.Glob(filepath.Join(blobs, "small."+topic, "*")); err != nil || len(kept) < least {
			t.Errorf("%d blobs of %s, want at least %d, %v", len(kept), topic, least, err)
		}
	}
	record, err := journal.Read(rough)
	if err != nil || len(record.Steps) != 3 {
		t.Errorf("journal has %d steps, %v", len(record.Steps), err)
	}
}

// killAfterStep kills the child once a step is committed. The child may be
// anywhere then: in rollouts, in scoring, in the next update.
func killAfterStep(t *testing.T, c *exec.Cmd, out *bytes.Buffer, dir string, step int) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	deadline := time.After(10 * time.Minute)
	for {
		select {
		case err := <-ended:
			t.Fatalf("run ended before step %d could be seen: %v\n%s", step, err, out)
		case <-deadline:
			t.Fatalf("no step %d after ten minutes", step)
		case <-time.After(5 * time.Millisecond):
		}
		if current, err := os.ReadFile(filepath.Join(dir, "checkpoints", "CURRENT")); err == nil && committed(string(current)) >= step {
			break
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// committed is the step that CURRENT names: "step-000002".
func committed(current string) int {
	n := 0
	for _, r := range current {
		if r >= '0' && r <= '9' {
			n = 10*n + int(r-'0')
		}
	}
	return n
}

func ledgerOf(t *testing.T, dir string) []schemas.Update {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "checkpoints", "ledger.frames"))
	if err != nil {
		t.Fatal(err)
	}
	updates, err := learn.ParseLedger(data)
	if err != nil {
		t.Fatal(err)
	}
	return updates
}

func TestTrainRefuses(t *testing.T) {
	held := t.TempDir()
	if err := os.WriteFile(filepath.Join(held, configFile), []byte("seed: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	typo := filepath.Join(t.TempDir(), "typo.yaml")
	if err := os.WriteFile(typo, []byte("group_sise: 4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		options TrainOptions
		want    []string
	}{
		{"directory of another run", TrainOptions{Dir: held}, []string{held, "--resume", "--dir"}},
		{"nothing to resume", TrainOptions{Dir: t.TempDir(), Resume: true}, []string{"nothing to resume"}},
		{"missing file", TrainOptions{Dir: t.TempDir(), ConfigFile: "none.yaml"}, []string{"none.yaml"}},
		{"misspelt key", TrainOptions{Dir: t.TempDir(), ConfigFile: typo}, []string{"typo.yaml", "line 1", "group_sise", "did you mean group_size?"}},
		{"unknown recipe", TrainOptions{Dir: t.TempDir(), Set: []string{"recipe=ppo"}}, []string{"ppo", "grpo++"}},
		{"several at once", TrainOptions{Dir: t.TempDir(), Set: []string{"group_size=0", "learn.learning_rate=-1"}}, []string{"group_size", "learn.learning_rate"}},
	} {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		c.options.Out = out
		err = Train(t.Context(), c.options)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", c.name, err, w)
			}
		}
	}
}

func TestSecondRunOnADirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	lock, err := claim(TrainOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if _, err := claim(TrainOptions{Dir: dir, Resume: true}); err == nil {
		t.Error("two runs hold one directory")
	}
}

func TestDryRunPrintsWhatLoadsBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "printed.yaml")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Train(t.Context(), TrainOptions{Dir: "unused", DryRun: true, Set: []string{"steps=3"}, Out: out}), out.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("unused"); err == nil {
		t.Error("a dry run made its directory")
	}
	first, err := resolve(TrainOptions{ConfigFile: path})
	if err != nil {
		t.Fatal(err)
	}
	if first.Steps != 3 {
		t.Errorf("steps read back as %d", first.Steps)
	}
}
