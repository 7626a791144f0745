package warmstart

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"millrace/kernels/tokenizer"
	"millrace/schemas"
	"millrace/transforms/inject"
	"millrace/transforms/rollout"
	"millrace/transforms/rollout/tools"
	"millrace/transforms/sandbox"
)

// desk is a sandbox of one file, whose tests pass when it holds want.
type desk struct {
	sandbox.Sandbox // nil: the expert calls nothing else
	opened, files   []schemas.File
	want            string
}

func (d desk) Open(_ context.Context, _ string, spec sandbox.Spec) (sandbox.Sandbox, error) {
	return &desk{opened: spec.Files, files: slices.Clone(spec.Files), want: d.want}, nil
}
func (d desk) Describe() string { return "desk" }
func (d desk) Close() error     { return nil }

func (d *desk) Exec(_ context.Context, command string, _ time.Duration) (sandbox.Result, error) {
	if strings.HasPrefix(command, listOperators) {
		return sandbox.Result{Output: "1\na / 2\n2\nc + b\n"}, nil
	}
	if strings.Contains(d.files[0].Content, d.want) {
		return sandbox.Result{Output: "ok  \tp\t0.001s\n"}, nil
	}
	return sandbox.Result{Output: "FAIL\tp\t0.001s\n", ExitCode: 1}, nil
}

func (d *desk) ReadFile(path string) ([]byte, error) {
	if path != d.files[0].Path {
		return nil, fs.ErrNotExist
	}
	return []byte(d.files[0].Content), nil
}

func (d *desk) WriteFile(_ string, data []byte) error {
	d.files[0].Content = string(data)
	return nil
}

func (d *desk) Patch(context.Context) (string, error) { return sandbox.Diff(d.opened, d.files), nil }
func (d *desk) ImageDigest() string                   { return "" }

// TestCollect runs the expert in the real agent loop. Tokenised again, each
// demonstration is the very sequence of its rollout.
func TestCollect(t *testing.T) {
	tok, err := tokenizer.Train(none, 256+len(control), control)
	if err != nil {
		t.Fatal(err)
	}
	chat, err := tokenizer.NewChat(tok)
	if err != nil {
		t.Fatal(err)
	}
	tasks := []schemas.Task{{ID: "p/1", Statement: "F is broken.", Files: []schemas.File{
		{Path: "p.go", Content: "package p\n\nfunc F(a, b int) int {\n\tc := a / 2\n\treturn c + b\n}\n"}}}}
	agent := rollout.Config{
		Limits: rollout.Limits{Context: 5000, Turn: 5000, Steps: 30, Malformed: 1, Action: 20 * time.Second, Time: time.Minute},
		Prompt: rollout.BriefPrompt, Tools: tools.Limits{Style: tools.Brief, Action: 15 * time.Second}, Attempts: 1, Seed: 3,
	}
	c := Collection{PerTask: 12, Concurrency: 4, Kinds: []inject.Kind{inject.FlipOperators}}
	collect := func() []Demonstration {
		t.Helper()
		out, err := Collect(t.Context(), tasks, tok, desk{want: "c - b"}, agent, c, func(int, int) {})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	got := collect()
	if len(got) != 12 {
		t.Fatalf("%d demonstrations, want 12", len(got))
	}
	for _, d := range got {
		// An expert without bad habits tries / first, to no avail, then +, and is done.
		if len(d.Messages) != 17 || !d.Solved || d.Messages[len(d.Messages)-1].Content != tools.Format(tools.Call{Name: "finish"}) {
			t.Errorf("%d messages, solved %v, ends with %v", len(d.Messages), d.Solved, d.Messages[len(d.Messages)-1])
		}
	}
	if diff := cmp.Diff(got, collect()); diff != "" {
		t.Errorf("collected again (-first +again):\n%s", diff)
	}

	a, err := rollout.NewAgent(NewPolicy(tok, Habits{}, c.Kinds), tok, desk{want: "c - b"}, agent)
	if err != nil {
		t.Fatal(err)
	}
	trajectory, err := a.Run(t.Context(), tasks[0], "warmstart", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	q := Sequence(tok, chat, got[0], false)
	if diff := cmp.Diff(trajectory.Tokens, q.Tokens); diff != "" {
		t.Errorf("tokens (-rollout +tokenised again):\n%s", diff)
	}
	if diff := cmp.Diff(trajectory.LossMask, q.Mask); diff != "" {
		t.Errorf("mask (-rollout +tokenised again):\n%s", diff)
	}

	agent.Limits.Context, agent.Limits.Turn = 400, 400 // the expert's second or third turn does not fit
	if got := collect(); len(got) != 0 {
		t.Errorf("%d demonstrations from rollouts that ran into the context limit", len(got))
	}
}
