package score

import (
	"context"
	"io/fs"
	"sync"
	"testing"
	"time"

	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/testlog"
)

// fakeProvider answers Exec with a function and counts what is open.
type fakeProvider struct {
	open func(ctx context.Context) error // nil: opens
	exec func(ctx context.Context, files []schemas.File) (sandbox.Result, error)

	mu    sync.Mutex // guards the rest
	opens int
	execs int
	live  int
}

func (p *fakeProvider) Open(ctx context.Context, _ string, spec sandbox.Spec) (sandbox.Sandbox, error) {
	p.mu.Lock()
	p.opens++
	p.mu.Unlock()
	if p.open != nil {
		if err := p.open(ctx); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live++
	return &fakeSandbox{p, spec.Files}, nil
}

func (p *fakeProvider) Describe() string { return "fake" }
func (p *fakeProvider) Close() error     { return nil }

type fakeSandbox struct {
	p     *fakeProvider
	files []schemas.File
}

func (s *fakeSandbox) Exec(ctx context.Context, _ string, _ time.Duration) (sandbox.Result, error) {
	s.p.mu.Lock()
	s.p.execs++
	s.p.mu.Unlock()
	return s.p.exec(ctx, s.files)
}

func (s *fakeSandbox) Close() error {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	s.p.live--
	return nil
}

// The scorer uses none of these.
func (s *fakeSandbox) ReadFile(string) ([]byte, error)       { panic("ReadFile") }
func (s *fakeSandbox) WriteFile(string, []byte) error        { panic("WriteFile") }
func (s *fakeSandbox) Remove(string) error                   { panic("Remove") }
func (s *fakeSandbox) ReadDir(string) ([]fs.DirEntry, error) { panic("ReadDir") }
func (s *fakeSandbox) Snapshot() ([]schemas.File, error)     { panic("Snapshot") }
func (s *fakeSandbox) Patch(context.Context) (string, error) { panic("Patch") }
func (s *fakeSandbox) ImageDigest() string                   { return "" }

// verdict makes the output of a run of TestHidden.
func verdict(action string) sandbox.Result {
	r := sandbox.Result{Output: `{"Action":"` + action + `","Package":"m","Test":"TestHidden"}` + "\n"}
	if action != "pass" {
		r.ExitCode = 1
	}
	return r
}

// solvedWhen passes TestHidden when a.go holds the content.
func solvedWhen(content string) func(context.Context, []schemas.File) (sandbox.Result, error) {
	return func(_ context.Context, files []schemas.File) (sandbox.Result, error) {
		for _, f := range files {
			if f.Path == "a.go" && f.Content == content {
				return verdict("pass"), nil
			}
		}
		return verdict("fail"), nil
	}
}

// aTask has a.go with the given content, and a hidden test.
func aTask(content string) schemas.Task {
	return schemas.Task{
		ID:          "task",
		Files:       []schemas.File{{Path: "a.go", Content: content}, {Path: "a_test.go", Content: "visible\n"}, {Path: "go.mod", Content: "module m\n"}},
		HiddenTests: []schemas.File{{Path: "hidden_test.go", Content: "hidden\n"}},
		TestCommand: "go test -json ./...", TestFormat: testlog.GoTestJSON,
		FailToPass: []string{"TestHidden"}, Rollouts: 2,
	}
}

// patchA replaces a.go's one line.
func patchA(before, after string) string {
	return "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-" + before + "\n+" + after + "\n"
}

func trajectory(task schemas.Task, patch string) schemas.Trajectory {
	return schemas.Trajectory{ID: "g#0.0", GroupID: "g", Task: task, Patch: patch, Termination: schemas.Finished}
}

func newScorer(t *testing.T, p sandbox.Provider, change func(*Config)) *Scorer {
	t.Helper()
	c := DefaultConfig()
	if change != nil {
		change(&c)
	}
	s, err := NewScorer(c, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if f, ok := p.(*fakeProvider); ok && f.live != 0 {
			t.Errorf("%d sandboxes are still open", f.live)
		}
	})
	return s
}
