package soundness

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/score"
)

// tests decide by the content of a.go: "right" passes, "wrong" fails, "moody"
// passes every second time, "broken" cannot be run.
type tests struct{ runs int }

func (p *tests) Open(_ context.Context, _ string, spec sandbox.Spec) (sandbox.Sandbox, error) {
	return &desk{tests: p, spec: spec}, nil
}
func (*tests) Describe() string { return "tests" }
func (*tests) Close() error     { return nil }

type desk struct {
	sandbox.Sandbox
	tests *tests
	spec  sandbox.Spec
}

func (d *desk) Close() error { return nil }
func (d *desk) Exec(context.Context, string, time.Duration) (sandbox.Result, error) {
	d.tests.runs++
	action := "fail"
	switch d.spec.Files[0].Content {
	case "right\n":
		action = "pass"
	case "moody\n":
		if d.tests.runs%4 == 0 {
			action = "pass"
		}
	case "broken\n":
		return sandbox.Result{}, &sandbox.Failure{Op: "running", Err: errors.New("no disk")}
	}
	return sandbox.Result{Output: fmt.Sprintf("{\"Action\":%q,\"Package\":\"p\",\"Test\":\"TestA\"}\n", action)}, nil
}

func task(before, after string) schemas.Task {
	t := schemas.Task{
		ID: before + "-" + after, Files: []schemas.File{{Path: "a.go", Content: before + "\n"}},
		TestCommand: "go test", TestFormat: "go-test-json", FailToPass: []string{"TestA"},
	}
	if after != "" {
		t.GoldPatch = sandbox.Diff(t.Files, []schemas.File{{Path: "a.go", Content: after + "\n"}})
	}
	return t
}

func TestCheck(t *testing.T) {
	c := Config{Times: 4, Concurrency: 1, Score: score.DefaultConfig()}
	c.Score.Attempts, c.Score.Backoff = 1, 0
	const failed = `failed with the gold patch: ["TestA"]`
	for _, want := range []Outcome{
		{Task: task("wrong", "right"), Verdict: Sound, Empty: []float64{0, 0, 0, 0}, Gold: []float64{1, 1, 1, 1}},
		{Task: task("right", "wrong"), Verdict: Trivial, Empty: []float64{1, 1, 1, 1}, Gold: []float64{0, 0, 0, 0}},
		{Task: task("wrong", "bad"), Verdict: Unsolved, Empty: []float64{0, 0, 0, 0}, Gold: []float64{0, 0, 0, 0}, Detail: failed},
		{Task: task("wrong", "moody"), Verdict: Flaky, Empty: []float64{0, 0, 0, 0}, Gold: []float64{0, 1, 0, 1}, Detail: failed},
		{Task: task("wrong", "broken"), Verdict: Unjudged, Empty: []float64{0}, Detail: `after 1 attempts: running "go test": running: no disk`},
		{Task: task("wrong", ""), Verdict: Unjudged, Detail: "the task has no gold patch"},
	} {
		var got []Outcome
		if err := Check(t.Context(), []schemas.Task{want.Task}, &tests{}, c, func(o Outcome) error { got = append(got, o); return nil }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Outcome{want}, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Task.ID, diff)
		}
	}
}

func TestCheckStops(t *testing.T) {
	c := Config{Times: 1, Concurrency: 2, Score: score.DefaultConfig()}
	full := errors.New("no room for the answer")
	many := []schemas.Task{task("wrong", "right"), task("wrong", "bad"), task("right", "wrong")}
	if err := Check(t.Context(), many, &tests{}, c, func(Outcome) error { return full }); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	if err := Check(t.Context(), many, &tests{}, Config{Times: 0, Concurrency: 1}, nil); err == nil {
		t.Error("no repetition was accepted")
	}
}
