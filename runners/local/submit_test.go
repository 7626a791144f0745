package local

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"millrace/pipelines/dataset"
	"millrace/pipelines/export"
	"millrace/pipelines/settings"
	"millrace/pipelines/submit"
	"millrace/pipelines/train"
	"millrace/runners/embedded"
	"millrace/runners/jobs"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// few are settings of a job of a few seconds on the real thing. What a command may
// take is far above what it takes on the busiest machine: an agent is told when one
// ran out of time, and goes another way.
func few(tasks, rollouts int) []string {
	return []string{fmt.Sprintf("max_tasks=%d", tasks), fmt.Sprintf("group_size=%d", rollouts), "groups=1", "rollout.concurrency=2",
		"rollout.tools.action_time=10m", "rollout.limits.action_time=20m", "rollout.limits.time=1h", "score.test_timeout=10m"}
}

// submitted runs a job and returns the last line that it wrote.
func submitted(t *testing.T, o SubmitOptions) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	o.Out = out
	err = errors.Join(Submit(t.Context(), o), out.Close())
	text, readErr := os.ReadFile(path)
	if readErr != nil {
		t.Fatal(readErr)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1], err
}

func mustSubmit(t *testing.T, o SubmitOptions, want string) {
	t.Helper()
	if last, err := submitted(t, o); err != nil || last != want {
		t.Fatalf("last line %q, error %v\nwant      %q", last, err, want)
	}
}

func statusOf(t *testing.T, dir, id string) jobs.Status {
	t.Helper()
	_, status, err := findJob(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// awaitStatus waits until a detached job stands as it should.
func awaitStatus(t *testing.T, dir, id string, enough func(jobs.Status) bool) jobs.Status {
	t.Helper()
	deadline := time.After(10 * time.Minute)
	for {
		status := statusOf(t, dir, id)
		if enough(status) {
			return status
		}
		if status.State != jobs.Running {
			var log bytes.Buffer
			JobsLogs(t.Context(), dir, id, false, &log)
			t.Fatalf("job is %s: %s\n%s", status.State, status.Error, &log)
		}
		select {
		case <-deadline:
			t.Fatalf("after ten minutes: %+v", status)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// rows are those of a table, sorted by id.
func rows[T any](t *testing.T, data, table string, codec dataset.Codec[T], id func(T) string) []T {
	t.Helper()
	files, err := dataset.Find(data, table)
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	for _, f := range files {
		if err := dataset.Read(t.Context(), f, codec, func(row T) error { all = append(all, row); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(id(a), id(b)) })
	return all
}

func samplesOf(t *testing.T, jobDir string) []schemas.Sample {
	t.Helper()
	return rows(t, filepath.Join(jobDir, "data"), export.Samples, schemas.Samples, func(s schemas.Sample) string { return s.ID })
}

// TestStoppedJobEndsAsAnUndisturbedOne: a detached job that is killed, resumed,
// cancelled, resumed, drained and resumed has the samples of one that ran through,
// to the bit, and each rollout once.
func TestStoppedJobEndsAsAnUndisturbedOne(t *testing.T) {
	base := t.TempDir()
	calm, rough := filepath.Join(base, "calm"), filepath.Join(base, "rough")
	const done = "job stopped done: 6 of 6 groups, 18 samples, 0 dead letters"
	mustSubmit(t, SubmitOptions{JobsDir: calm, ID: "stopped", Set: few(6, 3)}, done)

	mustSubmit(t, SubmitOptions{JobsDir: rough, ID: "stopped", Set: few(6, 3), Detach: true}, "stopped")
	rollingOut := func(run int) func(jobs.Status) bool {
		return func(s jobs.Status) bool { return s.Runs == run && s.Finished > 0 }
	}
	status := awaitStatus(t, rough, "stopped", rollingOut(1))
	listed(t, rough, "stopped", "running")
	if _, err := submitted(t, SubmitOptions{JobsDir: rough, Resume: "stopped"}); err == nil || !strings.Contains(err.Error(), "in use by process") {
		t.Errorf("resuming a job that is going on: %v", err)
	}
	if err := status.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !status.Process.AwaitEnd(time.After(time.Minute)) {
		t.Fatal("the job survived SIGKILL")
	}
	listed(t, rough, "stopped", "lost")

	mustSubmit(t, SubmitOptions{JobsDir: rough, Resume: "stopped", Detach: true}, "stopped")
	status = awaitStatus(t, rough, "stopped", rollingOut(2))
	var said bytes.Buffer
	if err := JobsCancel(rough, "stopped", &said); err != nil {
		t.Fatal(err)
	}
	if status.Process.Alive() || !strings.HasPrefix(said.String(), "job stopped cancelled; go on with: ") {
		t.Errorf("after cancel the process runs: %v; said %s", status.Process.Alive(), &said)
	}
	listed(t, rough, "stopped", "cancelled")

	mustSubmit(t, SubmitOptions{JobsDir: rough, Resume: "stopped", Detach: true}, "stopped")
	awaitStatus(t, rough, "stopped", rollingOut(3))
	said.Reset()
	if err := JobsDrain(t.Context(), rough, "stopped", &said); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "job stopped drained: ") {
		t.Errorf("drain said %s", &said)
	}
	part := samplesOf(t, filepath.Join(rough, "stopped"))
	result := statusOf(t, rough, "stopped").Result
	if result.GroupsDone == 0 || result.GroupsDone == 6 || len(part) != 3*result.GroupsDone || result.Rows != len(part) {
		t.Errorf("drained with %s and %d samples in the files", result, len(part))
	}
	mustSubmit(t, SubmitOptions{JobsDir: rough, Resume: "stopped"}, done)
	listed(t, rough, "stopped", "done")

	want, got := samplesOf(t, filepath.Join(calm, "stopped")), samplesOf(t, filepath.Join(rough, "stopped"))
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); len(want) != 18 || diff != "" {
		t.Errorf("%d samples undisturbed, %d otherwise (-undisturbed +stopped):\n%s", len(want), len(got), diff)
	}
	seen := map[string]bool{}
	for _, r := range rows(t, filepath.Join(rough, "stopped", "data"), export.Trajectories, schemas.Rewards, func(r schemas.Reward) string { return r.Trajectory.ID }) {
		id := schemas.RolloutID(r.Trajectory.GroupID, r.Trajectory.Rollout)
		if seen[id] {
			t.Errorf("rollout %s is in the files twice", id)
		}
		seen[id] = true
	}
	if len(seen) != 18 {
		t.Errorf("%d rollouts are in the files, want 18", len(seen))
	}
	if _, err := submitted(t, SubmitOptions{JobsDir: rough, Resume: "stopped"}); err == nil || !strings.Contains(err.Error(), "is done") {
		t.Errorf("resuming a job that is done: %v", err)
	}
	var log bytes.Buffer
	if err := JobsLogs(t.Context(), rough, "stopped", false, &log); err != nil || !strings.HasSuffix(log.String(), done+"\n") {
		t.Errorf("the log does not end with the last line (%v):\n%s", err, &log)
	}
}

func listed(t *testing.T, dir, id, state string) {
	t.Helper()
	var out bytes.Buffer
	if err := JobsList(dir, csvOutput, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\n"+id+","+state+",") {
		t.Errorf("job %s is not listed as %s:\n%s", id, state, &out)
	}
}

// TestPiecesMakeTheWhole: four jobs of a stage each, one after the other, make the
// samples that one job of four stages makes.
func TestPiecesMakeTheWhole(t *testing.T) {
	base := t.TempDir()
	whole, pieces := filepath.Join(base, "whole"), filepath.Join(base, "pieces")
	mustSubmit(t, SubmitOptions{JobsDir: whole, ID: "a", Set: few(2, 2)}, "job a done: 2 of 2 groups, 4 samples, 0 dead letters")
	mustSubmit(t, SubmitOptions{JobsDir: pieces, ID: "a", Set: append(few(2, 2), "stages=[rollout]")}, "job a done: 2 of 2 groups, 4 trajectories, 0 dead letters")
	before := "a"
	for _, piece := range []struct{ id, stage, made string }{{"b", "score", "rewards"}, {"c", "filter", "filtered trajectories"}, {"d", "advantage", "samples"}} {
		set := []string{"stages=[" + piece.stage + "]", fmt.Sprintf("input.parquet=%q", filepath.Join(pieces, before, "data"))}
		mustSubmit(t, SubmitOptions{JobsDir: pieces, ID: piece.id, Set: set}, fmt.Sprintf("job %s done: 2 of 2 groups, 4 %s, 0 dead letters", piece.id, piece.made))
		before = piece.id
	}
	want, got := samplesOf(t, filepath.Join(whole, "a")), samplesOf(t, filepath.Join(pieces, "d"))
	for i := range got {
		if got[i].Run != "d" {
			t.Errorf("a row of job d is of run %s", got[i].Run)
		}
		got[i].Run = "a"
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); len(want) != 4 || diff != "" {
		t.Errorf("(-whole +pieces):\n%s", diff)
	}
	// What was scored may be scored again.
	set := []string{"stages=[score]", fmt.Sprintf("input.parquet=%q", filepath.Join(whole, "a", "data"))}
	mustSubmit(t, SubmitOptions{JobsDir: pieces, ID: "again", Set: set}, "job again done: 2 of 2 groups, 4 rewards, 0 dead letters")
}

// unseen is an observer that shows nothing.
type unseen struct{}

func (unseen) Phase(string, int)         {}
func (unseen) Progress(int)              {}
func (unseen) Stages([]train.StageState) {}
func (unseen) Note(string)               {}

// TestStagesElsewhereMakeTheSame: a job whose stages make their sandboxes and
// policy of the settings that travel with the pipeline, as on a cluster, and which
// are cancelled when they have done all, has the samples of one that runs here.
func TestStagesElsewhereMakeTheSame(t *testing.T) {
	base := t.TempDir()
	mustSubmit(t, SubmitOptions{JobsDir: base, ID: "a", Set: few(2, 2)}, "job a done: 2 of 2 groups, 4 samples, 0 dead letters")
	config := submit.Default()
	if err := settings.Load("", few(2, 2), &config); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	brokers, closeBroker, err := openBrokers(dir, config.Kafka)
	if err != nil {
		t.Fatal(err)
	}
	result, err := submit.Run(t.Context(), "a", config, submit.Environment{Dir: dir, Brokers: brokers, Start: start, Cluster: start, Observer: unseen{}})
	if err := errors.Join(err, closeBroker()); err != nil {
		t.Fatal(err)
	}
	if result.String() != "2 of 2 groups, 4 samples, 0 dead letters" {
		t.Errorf("result: %s", result)
	}
	if diff := gocmp.Diff(samplesOf(t, filepath.Join(base, "a")), samplesOf(t, dir), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-here +elsewhere):\n%s", diff)
	}
}

// jobReward is a scored rollout of a group of two.
func jobReward(task string, rollout int32, value float64) schemas.Reward {
	order := schemas.Task{ID: task, Rollouts: 2}
	return schemas.Reward{Value: value, Trajectory: schemas.Trajectory{
		ID: schemas.TrajectoryID("old", task, 0, rollout, 0), GroupID: schemas.GroupID("old", task, 0), Run: "old", Rollout: rollout, Task: order,
		Tokens: []int32{1, 2}, LossMask: []bool{false, true}, LogProbs: []float32{0, -1}, Versions: []int32{-1, 0}, Termination: schemas.Finished,
	}}
}

// jobOverKafka: from a topic to a topic, with a record delivered twice, one that
// cannot be decoded, and a group of which one is missing.
func jobOverKafka(t *testing.T, brokers string, set ...string) {
	t.Helper()
	stamp := fmt.Sprint(time.Now().UnixNano())
	in, out, id := "in-"+stamp, "out-"+stamp, "job-"+stamp
	if err := kafkaio.EnsureTopics(t.Context(), brokers, kafkaio.TopicSpec{Name: in, Partitions: 2}); err != nil {
		t.Fatal(err)
	}
	for _, r := range []schemas.Reward{jobReward("x", 0, 1), jobReward("x", 1, 0), jobReward("x", 0, 1), jobReward("short", 1, 1)} {
		frame, err := schemas.Rewards.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := kafkaio.Produce(t.Context(), brokers, kafkaio.Output{Topic: in, Key: []byte(r.Trajectory.GroupID), Value: frame, ID: r.Trajectory.ID}); err != nil {
			t.Fatal(err)
		}
	}
	if err := kafkaio.Produce(t.Context(), brokers, kafkaio.Output{Topic: in, Key: []byte("k"), Value: []byte("poison")}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	o := SubmitOptions{JobsDir: dir, ID: id, Set: append([]string{
		"stages=[filter,advantage]", fmt.Sprintf("kafka.brokers=%q", brokers), "input.topic=" + in, "output.topic=" + out}, set...)}
	mustSubmit(t, o, "job "+id+" done: 2 of 2 groups, 3 samples, 1 dead letters")
	if c := statusOf(t, dir, id).Result.Counts; len(c) != 1 || c[0].In != 4 || c[0].Out != 3 || c[0].Dead != 1 || c[0].Pending != 0 {
		t.Errorf("counts %+v", c)
	}
	wantTopic(t, brokers, out)

	// A second job of that name would take the first one's topics for its own.
	o.JobsDir = t.TempDir()
	var ended *JobEnded
	if _, err := submitted(t, o); !errors.As(err, &ended) || ended.ExitCode() != 1 || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a job of the same id elsewhere: %v", err)
	}
	if _, err := submitted(t, SubmitOptions{JobsDir: o.JobsDir, Resume: id}); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("resuming it: %v", err)
	}
	// What is on the output topic already is not written again.
	o.ID = id + "-again"
	mustSubmit(t, o, "job "+o.ID+" done: 2 of 2 groups, 3 samples, 1 dead letters")
	wantTopic(t, brokers, out)
}

// wantTopic checks the samples that jobOverKafka makes.
func wantTopic(t *testing.T, brokers, topic string) {
	t.Helper()
	got := map[string]schemas.Sample{}
	err := kafkaio.Scan(t.Context(), brokers, topic, &kafkaio.Latest, func(r kafkaio.Record) error {
		samples, err := schemas.Samples.Decode(r.Value)
		for _, s := range samples {
			if _, twice := got[s.ID]; twice {
				t.Errorf("sample %s is on the topic twice", s.ID)
			}
			got[s.ID] = s
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]struct {
		advantage float64
		members   int32
	}{"old/0/x#0.0": {1, 2}, "old/0/x#1.0": {-1, 2}, "old/0/short#1.0": {0, 1}} {
		if s, ok := got[id]; !ok || s.Advantage != want.advantage || s.GroupMembers != want.members {
			t.Errorf("%s: advantage %v, %d members, there: %v; want %+v", id, s.Advantage, s.GroupMembers, ok, want)
		}
		delete(got, id)
	}
	if len(got) > 0 {
		t.Errorf("also on the topic: %v", got)
	}
}

func TestJobOverKafka(t *testing.T) {
	broker, err := embedded.StartBroker(embedded.BrokerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := broker.Close(); err != nil {
			t.Error(err)
		}
	})
	jobOverKafka(t, broker.Addr())
}

func TestSubmitRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name    string
		options SubmitOptions
		want    string
	}{
		{"misspelt key", SubmitOptions{Set: []string{"group_sise=4"}}, "did you mean group_size?"},
		{"a gap", SubmitOptions{Set: []string{"stages=[rollout,advantage]"}}, "advantage behind rollout"},
		{"other settings for a job that exists", SubmitOptions{Resume: "a", Set: []string{"seed=8"}}, "gone on with as it was submitted"},
		{"no such job", SubmitOptions{Resume: "a"}, "there is no job a"},
		{"a path for an id", SubmitOptions{ID: "../a"}, "job id"},
	} {
		c.options.JobsDir = dir
		if _, err := submitted(t, c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("refused jobs left %v, %v", entries, err)
	}
	// What only shows when the job begins fails it, and says so in its status.
	mine := SubmitOptions{JobsDir: dir, ID: "empty", Set: []string{"stages=[filter]", fmt.Sprintf("input.parquet=%q", t.TempDir())}}
	var ended *JobEnded
	_, err := submitted(t, mine)
	if !errors.As(err, &ended) || ended.ExitCode() != 1 || !strings.Contains(err.Error(), "holds no rows") {
		t.Errorf("a job without input: %v", err)
	}
	if s := statusOf(t, dir, "empty"); s.State != jobs.Failed || !strings.Contains(s.Error, "holds no rows") {
		t.Errorf("status %+v", s)
	}
	if err := JobsCancel(dir, "empty", &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "it is failed") {
		t.Errorf("cancelling a failed job: %v", err)
	}
}
