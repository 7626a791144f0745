package prove_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"millrace/pipelines/mine"
	"millrace/pipelines/prove"
)

// TestNothingVanishes: every candidate becomes one decision, and they add up by origin
// and reason (invariant 6).
func TestNothingVanishes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := openJournal(t, path)
	if err := prove.Run(t.Context(), prove.Config{Name: jobName(t), Workers: 3}, &fakeWork{n: 100}, j, start, &silent{}); err != nil {
		t.Fatal(err)
	}
	half := prove.Count{Candidates: 100, Compiled: 80, Tasks: 60, Rejected: map[prove.Reason]int{prove.NoCompile: 20, prove.NoFailToPass: 20}}
	want := prove.Summary{
		Count:    prove.Count{Candidates: 200, Compiled: 160, Tasks: 120, Rejected: map[prove.Reason]int{prove.NoCompile: 40, prove.NoFailToPass: 40}},
		ByOrigin: map[string]*prove.Count{"left": &half, "right": &half},
	}
	if diff := cmp.Diff(want, prove.Summarize(j.Decisions())); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	checkTasks(t, j, 120)
}

// checkTasks writes the tasks, reads them as a task set, and wants n of them in order.
func checkTasks(t *testing.T, j *prove.Journal, n int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tasks.jsonl")
	if got, err := j.WriteTasks(path); err != nil || got != n {
		t.Fatalf("WriteTasks = %d, %v; want %d", got, err, n)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tasks, bad, err := mine.Read(path, bytes.NewReader(text))
	if err != nil || len(bad) > 0 || len(tasks) != n {
		t.Fatalf("read %d tasks, %v, %v; want %d", len(tasks), bad, err, n)
	}
	for i, task := range tasks {
		if i > 0 && task.ID <= tasks[i-1].ID {
			t.Errorf("%s stands behind %s", task.ID, tasks[i-1].ID)
		}
		if task.Files[0].Content != task.ID {
			t.Errorf("%s has the files of %s", task.ID, task.Files[0].Content)
		}
	}
}

// TestNoFailureBecomesARejection: a candidate is tried again when the machine fails,
// stays undecided when that does not help, and is decided by the next start
// (invariant 1).
func TestNoFailureBecomesARejection(t *testing.T) {
	j := openJournal(t, filepath.Join(t.TempDir(), "journal"))
	const flaky, broken = "repo/left/0002", "repo/right/0003"
	w := &fakeWork{n: 10, fails: func(id string, try int) error {
		if id == broken || id == flaky && try < 3 {
			return errMachine
		}
		return nil
	}}
	notes := &silent{}
	err := prove.Run(t.Context(), prove.Config{Name: jobName(t), Workers: 2}, w, j, start, notes)
	if err == nil || !strings.Contains(err.Error(), "1 candidates are undecided") {
		t.Fatalf("Run = %v, want one undecided", err)
	}
	if !j.Known(flaky) || j.Known(broken) {
		t.Errorf("known: %s %v, %s %v; want the first alone", flaky, j.Known(flaky), broken, j.Known(broken))
	}
	if len(notes.notes) != 1 || !strings.Contains(notes.notes[0], broken) {
		t.Errorf("notes %q, want one that names %s", notes.notes, broken)
	}
	if err := prove.Run(t.Context(), prove.Config{Name: jobName(t), Workers: 2}, &fakeWork{n: 10}, j, start, &silent{}); err != nil {
		t.Fatal(err)
	}
	if got := prove.Summarize(j.Decisions()).Candidates; got != 20 {
		t.Errorf("%d candidates are decided, want 20", got)
	}
}

// TestLimit: a start decides on as many as it may, and the next ones on the rest.
func TestLimit(t *testing.T) {
	j := openJournal(t, filepath.Join(t.TempDir(), "journal"))
	for start1, want := range []int{4 + 7, 4 + 14, 20} { // 4 are decided in the listing
		if err := prove.Run(t.Context(), prove.Config{Name: jobName(t), Workers: 2, Limit: 7}, &fakeWork{n: 10}, j, start, &silent{}); err != nil {
			t.Fatal(err)
		}
		if got := len(j.Decisions()); got != want {
			t.Errorf("start %d: %d decisions, want %d", start1+1, got, want)
		}
	}
}

// TestKilledRunGoesOn: a process that is killed with SIGKILL while it decides leaves a
// journal from which the next one goes on: nothing is decided twice, nothing is lost.
func TestKilledRunGoesOn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal")
	cmd := exec.Command(os.Args[0], "-test.run=^TestMain$")
	cmd.Env = append(os.Environ(), "MILLRACE_PROVE_CHILD="+path)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(2 * time.Minute)
	for {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Count(text, []byte(`"task":`)) >= 30 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the child has decided nothing")
		}
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended by itself: there was nothing left to kill")
	}
	// What a kill between write and newline leaves.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"id":"repo/left/0001","origin":"le`)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()

	j := openJournal(t, path)
	before := len(j.Decisions())
	if before < 30 || before >= childCandidates*2 {
		t.Fatalf("%d decisions survived the kill, want some and not all", before)
	}
	w := &fakeWork{n: childCandidates}
	if err := prove.Run(t.Context(), prove.Config{Name: jobName(t), Workers: 4}, w, j, start, &silent{}); err != nil {
		t.Fatal(err)
	}
	ids := map[string]int{}
	for _, d := range j.Decisions() {
		ids[d.ID]++
	}
	for _, unit := range []string{"left", "right"} {
		for i := range childCandidates {
			if id := fmt.Sprintf("repo/%s/%04d", unit, i); ids[id] != 1 {
				t.Errorf("%s has %d decisions, want 1", id, ids[id])
			}
		}
	}
	if decided := len(w.tries); decided > childCandidates*2-before {
		t.Errorf("%d candidates were decided on by the second start, %d were left", decided, childCandidates*2-before)
	}
	checkTasks(t, j, childCandidates*2*3/5)
}

const childCandidates = 500

// TestMain is also the process that TestKilledRunGoesOn kills: it decides slowly.
func TestMain(m *testing.M) {
	path := os.Getenv("MILLRACE_PROVE_CHILD")
	if path == "" {
		os.Exit(m.Run())
	}
	j, err := prove.OpenJournal(path, "input")
	if err == nil {
		w := &fakeWork{n: childCandidates, each: func() { time.Sleep(20 * time.Millisecond) }}
		err = prove.Run(context.Background(), prove.Config{Name: "child", Workers: 2}, w, j, start, &silent{})
	}
	fmt.Fprintln(os.Stderr, "child:", err)
	os.Exit(0)
}
