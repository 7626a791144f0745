package jobs

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func self(t *testing.T) Process {
	t.Helper()
	p, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sleeper is a process that is not this one's doing.
func sleeper(t *testing.T) (Process, *exec.Cmd) {
	t.Helper()
	c := exec.Command("sleep", "600")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	p, err := identify(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return p, c
}

func create(t *testing.T, d Directory, s Status) Job {
	t.Helper()
	j, err := d.Create(s, "seed: 1\n")
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestReusedPIDIsAnother: a pid that was given to somebody else is neither taken
// for the job's process nor sent its signals.
func TestReusedPIDIsAnother(t *testing.T) {
	now, command := sleeper(t)
	for name, before := range map[string]Process{
		"started earlier":  {PID: now.PID, Start: now.Start - 1, Boot: now.Boot},
		"before a restart": {PID: now.PID, Start: now.Start, Boot: "another"},
	} {
		if before.Alive() {
			t.Errorf("%s: the process is taken for the job's", name)
		}
		if err := before.Signal(syscall.SIGKILL); !errors.Is(err, ErrGone) {
			t.Errorf("%s: Signal: %v, want ErrGone", name, err)
		}
		j := create(t, Directory(t.TempDir()), Status{ID: "a", State: Running, Process: before})
		if s, err := j.Status(); err != nil || s.State != Lost {
			t.Errorf("%s: job is %s, %v, want lost", name, s.State, err)
		}
	}
	if !now.Alive() {
		t.Fatal("the innocent process was ended")
	}
	if err := now.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// Nobody has asked about it yet, so the pid is still its own.
	if !now.AwaitEnd(time.After(time.Minute)) {
		t.Error("a killed process counts as running")
	}
	command.Wait()
	if err := now.Signal(syscall.SIGKILL); !errors.Is(err, ErrGone) {
		t.Errorf("signal to an ended process: %v, want ErrGone", err)
	}
}

// TestStatus: only a job that says it runs is asked for its process.
func TestStatus(t *testing.T) {
	gone := Process{PID: os.Getpid(), Start: 1, Boot: "another"}
	d := Directory(t.TempDir())
	for _, c := range []struct {
		id      string
		state   State
		process Process
		want    State
	}{
		{"a", Running, self(t), Running}, {"b", Running, gone, Lost}, {"c", Done, gone, Done}, {"d", Failed, gone, Failed},
		{"e", Cancelled, gone, Cancelled}, {"f", Drained, gone, Drained},
	} {
		written := Status{ID: c.id, State: c.state, Process: c.process, Submitted: time.Unix(1, 0).UTC(), Stages: []string{"score"}, Runs: 2, Error: "no disk"}
		s, err := create(t, d, written).Status()
		written.State = c.want
		if diff := cmp.Diff(written, s); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.id, err, diff)
		}
	}
}

func TestDirectory(t *testing.T) {
	d := Directory(t.TempDir())
	if all, err := (d + "/none").List(); err != nil || len(all) != 0 {
		t.Errorf("a directory that is not there: %v, %v", all, err)
	}
	for i, id := range []string{"old", "new", "middle"} {
		create(t, d, Status{ID: id, State: Done, Submitted: time.Unix([]int64{10, 30, 20}[i], 0)})
	}
	if err := os.Mkdir(string(d)+"/somebody-elses", 0o755); err != nil {
		t.Fatal(err)
	}
	all, err := d.List()
	var ids []string
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	if err != nil || strings.Join(ids, " ") != "new middle old" {
		t.Errorf("listed %v, %v, want the last submitted first", ids, err)
	}
	if entries, err := os.ReadDir(string(d)); err != nil || len(entries) != 4 {
		t.Errorf("making jobs left %v, %v", entries, err)
	}
	if _, err := d.Create(Status{ID: "old", State: Running}, ""); err == nil || !strings.Contains(err.Error(), "--resume old") {
		t.Errorf("a second job of one id: %v", err)
	}
	if j, err := d.Open("old"); err != nil {
		t.Error(err)
	} else if s, err := j.Status(); err != nil || s.State != Done {
		t.Errorf("the first job of that id is %s, %v", s.State, err)
	}
	if _, err := d.Open("none"); err == nil || !strings.Contains(err.Error(), "there is no job none") {
		t.Errorf("a job that is not there: %v", err)
	}
	for _, id := range []string{"", ".", "..", "../old", "a/b", ".new", strings.Repeat("x", 101), "a b", "a,b"} {
		if _, err := d.Create(Status{ID: id}, ""); err == nil {
			t.Errorf("id %q is taken", id)
		}
		if _, err := d.Open(id); err == nil {
			t.Errorf("id %q is opened", id)
		}
	}
	if a, b := NewID(time.Unix(1_700_000_000, 0)), NewID(time.Unix(1_700_000_000, 0)); a == b || a[:15] != "20231114-221320" || !jobID.MatchString(a) {
		t.Errorf("ids %q and %q", a, b)
	}
}

// TestStatusOfAnotherJobIsRefused: a directory that was copied by hand is not
// taken for the job it was copied from.
func TestStatusOfAnotherJobIsRefused(t *testing.T) {
	d := Directory(t.TempDir())
	create(t, d, Status{ID: "a", State: Done})
	if err := os.CopyFS(string(d)+"/b", os.DirFS(string(d)+"/a")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.List(); err == nil || !strings.Contains(err.Error(), `is about job "a"`) {
		t.Errorf("listing: %v", err)
	}
}

// TestFollowedLogEndsWithTheJob, with all that the job wrote before it ended.
func TestFollowedLogEndsWithTheJob(t *testing.T) {
	process, command := sleeper(t)
	j := create(t, Directory(t.TempDir()), Status{ID: "a", State: Running, Process: process})
	lines := make(writer)
	ended := make(chan error, 1)
	go func() { ended <- j.Log(t.Context(), true, lines) }()
	log, err := j.OpenLog()
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for _, text := range []string{"first\n", "second\n"} {
		if _, err := log.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if got := <-lines; got != text {
			t.Fatalf("followed %q, want %q", got, text)
		}
	}
	if _, err := log.WriteString("last words\n"); err != nil {
		t.Fatal(err)
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := <-lines; got != "last words\n" {
		t.Errorf("followed %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

type writer chan string

func (w writer) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}
