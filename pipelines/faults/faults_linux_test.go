package faults_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/pipelines/faults"
	"millrace/pipelines/gomodule"
	"millrace/pipelines/mine"
	"millrace/pipelines/prove"
	"millrace/pipelines/stage"
	"millrace/runners/embedded"
	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/sandbox/sandboxtest"
	"millrace/transforms/score"
	"millrace/transforms/testlog"
)

func start(ctx context.Context, name string, p *beam.Pipeline) (stage.Job, error) {
	job, err := embedded.RunJob(ctx, name, p)
	if err != nil {
		return nil, err
	}
	return job, nil
}

type silent struct{ t *testing.T }

func (s silent) Phase(string, int) {}
func (s silent) Progress(int)      {}
func (s silent) Note(text string)  { s.t.Log(text) }

// module has a package that is broken, one that depends on it, one that does not,
// dependencies on nothing, and a test that is flaky.
func module(t *testing.T) gomodule.Module {
	t.Helper()
	m, err := gomodule.Read(t.Context(), filepath.Join("testdata", "scores"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestInject makes tasks of a small module with the real go command, and holds each
// one to what a scorer sees: with the gold patch all tests pass, without it exactly
// the fail-to-pass tests do not.
func TestInject(t *testing.T) {
	m := module(t)
	boxes := sandboxtest.Process(t, sandbox.Limits{OutputBytes: prove.OutputBytes})
	suite := prove.Suite{Sandboxes: boxes, Limit: 5 * time.Second}
	config := faults.DefaultConfig()
	config.Draw.Attempts, config.ReferenceRuns = 1, 8 // a flaky test passes all runs once in 256
	config.Patterns = []string{"."}
	work, err := faults.New(t.Context(), config, m, suite)
	if err != nil {
		t.Fatal(err)
	}
	j, err := prove.OpenJournal(filepath.Join(t.TempDir(), "journal"), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := prove.Run(t.Context(), prove.Config{Name: "inject-test", Workers: 2}, work, j, start, silent{t}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tasks.jsonl")
	if _, err := j.WriteTasks(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tasks, bad, err := mine.Read(path, bytes.NewReader(text))
	if err != nil || len(bad) > 0 {
		t.Fatal(err, bad)
	}
	t.Logf("%+v", prove.Summarize(j.Decisions()).Count)
	if len(tasks) < 3 {
		t.Fatalf("%d tasks, want some", len(tasks))
	}
	for _, task := range tasks {
		t.Run(task.ID, func(t *testing.T) {
			checkStatement(t, m, task)
			if gold := scored(t, boxes, task, task.GoldPatch); len(gold.Failed) > 0 || gold.Value != 1 {
				t.Errorf("with the gold patch fail %q", gold.Failed)
			}
			if none := scored(t, boxes, task, ""); !slices.Equal(none.Failed, task.FailToPass) {
				t.Errorf("without a patch fail %q, want %q", none.Failed, task.FailToPass)
			}
			for _, name := range slices.Concat(task.FailToPass, task.PassToPass) {
				if strings.Contains(name, "TestFlaky") || strings.Contains(name, "/apart.") {
					t.Errorf("%s is expected: it is flaky, or cannot see the change", name)
				}
			}
			for _, f := range task.Files {
				for _, name := range task.FailToPass {
					function := name[strings.LastIndex(name, ".")+1:]
					if strings.Contains(f.Content, "func "+function+"(") && strings.HasPrefix(name, m.ImportPath(filepath.Dir(f.Path))+".") {
						t.Errorf("the agent sees %s in %s", name, f.Path)
					}
				}
			}
		})
	}
}

// scored is what package score makes of a patch: the workspace that the scorer runs
// the tests on, and the grade of its rule.
func scored(t *testing.T, boxes sandbox.Provider, task schemas.Task, patch string) testlog.Grade {
	t.Helper()
	files, err := score.Workspace(task, patch)
	if err != nil {
		t.Fatal(err)
	}
	box, err := boxes.Open(t.Context(), task.ID, sandbox.Spec{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	result, err := box.Exec(t.Context(), task.TestCommand, 5*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	results, err := testlog.Parse(task.TestFormat, result.Output, testlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	grade, err := testlog.Judge(task, results)
	if err != nil {
		t.Fatal(err)
	}
	return grade
}

var place = regexp.MustCompile(`\.go\b|:\d+:`)

// checkStatement greps for what an issue text must not say.
func checkStatement(t *testing.T, m gomodule.Module, task schemas.Task) {
	t.Helper()
	if found := place.FindString(task.Statement); found != "" {
		t.Errorf("the statement names a place, %q:\n%s", found, task.Statement)
	}
	for _, name := range m.Functions() {
		if strings.Contains(task.Statement, name) {
			t.Errorf("the statement names the test %s:\n%s", name, task.Statement)
		}
	}
	for line := range strings.Lines(task.GoldPatch) {
		body := strings.TrimSpace(line[1:])
		if (line[0] == '+' || line[0] == '-') && len(body) > 8 && strings.Contains(task.Statement, body) {
			t.Errorf("the statement holds the line %q of the change:\n%s", body, task.Statement)
		}
	}
}

// TestListIsDeterministic: the same module gives the same candidates, with ids that
// differ, and those that do not compile are told apart before any test runs.
func TestListIsDeterministic(t *testing.T) {
	suite := prove.Suite{Sandboxes: sandboxtest.Process(t, sandbox.Limits{OutputBytes: prove.OutputBytes}), Limit: 5 * time.Second}
	config := faults.DefaultConfig()
	config.ReferenceRuns = 1
	work, err := faults.New(t.Context(), config, module(t), suite)
	if err != nil {
		t.Fatal(err)
	}
	list := func() (ids []string, rejected int) {
		units, err := work.Units(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range units {
			err := work.List(t.Context(), u, func(string) bool { return false },
				func(c prove.Candidate) error { ids = append(ids, c.ID+string(c.Spec)); return nil },
				func(d prove.Decision) error {
					if d.Reason != prove.NoCompile || d.Detail == "" {
						t.Errorf("decided without a test: %+v", d)
					}
					rejected++
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
		}
		return ids, rejected
	}
	first, rejected := list()
	again, _ := list()
	if !slices.Equal(first, again) || len(first) == 0 {
		t.Errorf("%d candidates, then %d others", len(first), len(again))
	}
	if slices.Sort(first); len(slices.Compact(slices.Clone(first))) != len(first) {
		t.Error("an id occurs twice")
	}
	t.Logf("%d candidates, %d do not compile", len(first), rejected)
}

func TestNewRefuses(t *testing.T) {
	suite := prove.Suite{Sandboxes: sandboxtest.Process(t, sandbox.Limits{OutputBytes: prove.OutputBytes}), Limit: 5 * time.Second}
	mod := schemas.File{Path: "go.mod", Content: "module m\n\ngo 1.26\n"}
	for name, files := range map[string][]schemas.File{
		"no tests":      {mod, {Path: "a.go", Content: "package m\n"}},
		"no compile":    {mod, {Path: "a.go", Content: "package m\nfunc f() int {}\n"}, {Path: "a_test.go", Content: "package m\n"}},
		"failing tests": {mod, {Path: "a.go", Content: "package m\n"}, {Path: "a_test.go", Content: "package m\nimport \"testing\"\nfunc TestA(t *testing.T) { t.Fail() }\n"}},
	} {
		m, err := gomodule.Of(t.Context(), files)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := faults.New(t.Context(), faults.DefaultConfig(), m, suite); err == nil || !strings.Contains(err.Error(), "m") {
			t.Errorf("%s: New = %v, want an error that names the module", name, err)
		}
	}
}
