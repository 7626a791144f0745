package rollout

import (
	"errors"
	"strings"
	"testing"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// TestSingleTurn: one turn, no sandbox; what the answer's edits make of the files is
// the patch, and an answer that cannot be read or does not fit is malformed.
func TestSingleTurn(t *testing.T) {
	answer := func(search string) string {
		return "<think>\nhm\n</think>\n<solution>\n```python\n### a.py\n<<<<<<< SEARCH\n" + search + "\n=======\nx = 2\n>>>>>>> REPLACE\n```\n</solution>"
	}
	task := order()
	task.Files = []schemas.File{{Path: "a.py", Content: "x = 1\ny = 1\n"}}
	for _, c := range []struct {
		name string
		turn turn
		want schemas.Termination
		file string
	}{
		{"repair", turn{say: answer("x = 1")}, schemas.Finished, "x = 2\ny = 1\n"},
		{"search that is not there", turn{say: answer("z = 1")}, schemas.Malformed, ""},
		{"no answer", turn{say: "I do not know."}, schemas.Malformed, ""},
		{"cut at the turn's limit", turn{say: answer("x = 1")[:60], open: true}, schemas.Malformed, ""},
		{"cut by the context", turn{say: strings.Repeat("x", 20_000), open: true}, schemas.ContextFull, ""},
	} {
		boxes := &memory{}
		cfg := config()
		cfg.SingleTurn, cfg.Limits.Context, cfg.Limits.Turn = true, 6000, 6000
		a, p := agent(t, cfg, boxes, c.turn)
		got, err := a.Run(t.Context(), task, "run", 0, 0)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got.Termination != c.want || len(got.Steps) != 1 || len(boxes.boxes) != 0 || !p.sessions[0].closed {
			t.Errorf("%s: ended as %s after %d steps, %d sandboxes, session closed %t", c.name, got.Termination, len(got.Steps), len(boxes.boxes), p.sessions[0].closed)
		}
		if c.file == "" {
			if got.Patch != "" {
				t.Errorf("%s: patch %q", c.name, got.Patch)
			}
			continue
		}
		after, err := sandbox.Apply(task.Files, got.Patch)
		if err != nil || after[0].Content != c.file {
			t.Errorf("%s: %q, %v", c.name, after, err)
		}
	}
	cfg := config()
	cfg.SingleTurn = true
	a, _ := agent(t, cfg, &memory{})
	if _, err := a.Run(t.Context(), schemas.Task{ID: "image", Image: "i"}, "run", 0, 0); !errors.Is(err, sandbox.ErrUnsupported) {
		t.Errorf("a task without files: %v", err)
	}
}
