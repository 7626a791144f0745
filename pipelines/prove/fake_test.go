package prove_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/pipelines/prove"
	"millrace/pipelines/stage"
	"millrace/runners/embedded"
	"millrace/schemas"
)

// start runs a pipeline on the embedded runner, as the command line does.
func start(ctx context.Context, name string, p *beam.Pipeline) (stage.Job, error) {
	job, err := embedded.RunJob(ctx, name, p)
	if err != nil {
		return nil, err
	}
	return job, nil
}

// fakeWork has n candidates in each of two units. Of the candidates of a unit, number
// 0 mod 5 is decided in the listing, 1 mod 5 is rejected by its tests, the others are
// tasks.
type fakeWork struct {
	n int
	// fails returns the error of the machine for a try, counted from 1.
	fails func(id string, try int) error
	// each is called before a candidate is decided on.
	each func()

	mu    sync.Mutex
	tries map[string]int
}

func (w *fakeWork) Units(context.Context) ([]string, error) { return []string{"left", "right"}, nil }

func (w *fakeWork) List(_ context.Context, unit string, known func(string) bool, found func(prove.Candidate) error, decided func(prove.Decision) error) error {
	for i := range w.n {
		c := prove.Candidate{ID: fmt.Sprintf("repo/%s/%04d", unit, i), Origin: unit, Spec: []byte(fmt.Sprint(i % 5))}
		var err error
		if i%5 == 0 {
			err = decided(c.Reject(prove.NoCompile, "line 1"))
		} else {
			err = found(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *fakeWork) Decide(_ context.Context, c prove.Candidate) (prove.Decision, error) {
	w.mu.Lock()
	if w.tries == nil {
		w.tries = map[string]int{}
	}
	w.tries[c.ID]++
	try := w.tries[c.ID]
	w.mu.Unlock()
	if w.each != nil {
		w.each()
	}
	if w.fails != nil {
		if err := w.fails(c.ID, try); err != nil {
			return prove.Decision{}, err
		}
	}
	if string(c.Spec) == "1" {
		d := c.Reject(prove.NoFailToPass, "")
		d.Compiled = true
		return d, nil
	}
	t := schemas.Task{
		ID: c.ID, Repo: "repo", Split: "train", Statement: "It is broken.", TestCommand: "go test", TestFormat: "go-test-json",
		Files: []schemas.File{{Path: "a.go", Content: c.ID}}, HiddenTests: []schemas.File{{Path: "a_test.go", Content: "package a"}},
		FailToPass: []string{"TestA"}, PassToPass: []string{"TestB"},
	}
	return prove.Decision{ID: c.ID, Origin: c.Origin, Compiled: true, Task: &t}, nil
}

var errMachine = errors.New("no space left on device")

// silent is an observer that fails the test for nothing.
type silent struct {
	mu    sync.Mutex
	notes []string
}

func (s *silent) Phase(string, int) {}
func (s *silent) Progress(int)      {}
func (s *silent) Note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, text)
}

func openJournal(t *testing.T, path string) *prove.Journal {
	t.Helper()
	j, err := prove.OpenJournal(path, "input")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// jobName is a name for a pipeline of a test.
func jobName(t *testing.T) string { return strings.ReplaceAll(t.Name(), "/", "-") }
