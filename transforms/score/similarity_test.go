package score

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"millrace/schemas"
	"millrace/transforms/difflib"
	"millrace/transforms/sandbox"
)

// python is the example of SWE-RL's own tests; the values below are its function's.
const python = "def add(a, b):\n    return a + b\n\ndef subtract(a, b):\n    return a - b"

func similar(t *testing.T, files []schemas.File, gold, patch string, change func(*schemas.Trajectory)) schemas.Reward {
	t.Helper()
	tr := schemas.Trajectory{ID: "g#0.0", GroupID: "g", Termination: schemas.Finished, Patch: patch,
		Task: schemas.Task{ID: "t", Files: files, GoldPatch: gold}}
	if change != nil {
		change(&tr)
	}
	r, err := Similarity{}.Score(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSimilarity(t *testing.T) {
	files := []schemas.File{{Path: "a.py", Content: python}, {Path: "b.py", Content: "b\n"}}
	patch := func(edit func(map[string]string)) string {
		after := map[string]string{"a.py": python, "b.py": "b\n"}
		edit(after)
		var out []schemas.File
		for path, content := range after {
			out = append(out, schemas.File{Path: path, Content: content})
		}
		return sandbox.Diff(files, out)
	}
	replace := func(path, before, after string) func(map[string]string) {
		return func(m map[string]string) { m[path] = strings.ReplaceAll(m[path], before, after) }
	}
	gold := patch(replace("a.py", "    return a + b", "    return a + b + 0"))
	both := patch(func(m map[string]string) {
		replace("a.py", "    return a + b", "    return a + b + 0")(m)
		m["b.py"], m["c.py"] = "other\n", "new\n"
	})
	for _, c := range []struct {
		name  string
		patch string
		want  float64
	}{
		{"the gold patch", gold, 1},
		{"another change of the line", patch(replace("a.py", "    return a", "    return Z")), 0.8907563025210085},
		{"the line deleted", patch(replace("a.py", "    return a + b", "")), 0.9019607843137255},
		{"nothing", "", 0},
		{"another file", patch(replace("b.py", "b", "c")), 0},
		{"two files too many", both, 1.0 / 3},
	} {
		if r := similar(t, files, gold, c.patch, nil); r.Failure != "" || math.Abs(r.Value-c.want) > 1e-15 {
			t.Errorf("%s: %v %q, want %v", c.name, r.Value, r.Failure, c.want)
		}
	}
	malformed := func(tr *schemas.Trajectory) { tr.Termination = schemas.Malformed }
	if r := similar(t, files, gold, gold, malformed); r.Value != BadFormat || r.Failure != "" {
		t.Errorf("malformed: %+v", r)
	}
}

// TestNoFailureBecomesASimilarity (invariant 1): what a task lacks is no reward, not
// even the one of a bad format.
func TestNoFailureBecomesASimilarity(t *testing.T) {
	files := []schemas.File{{Path: "a.go", Content: "wrong\n"}}
	gold := patchA("wrong", "right")
	long := strings.Repeat("x", difflib.MaxElements)
	for _, c := range []struct {
		name   string
		files  []schemas.File
		gold   string
		patch  string
		change func(*schemas.Trajectory)
		want   string
	}{
		{"no gold patch", files, "", gold, func(tr *schemas.Trajectory) { tr.Termination = schemas.Malformed }, "no gold patch"},
		{"gold patch of other files", files, patchA("other", "right"), gold, nil, "applying the gold patch"},
		{"patch of other files", files, gold, patchA("other", "right"), nil, "applying the agent's patch"},
		{"tombstone", files, gold, "", func(tr *schemas.Trajectory) { tr.Termination, tr.Failure = schemas.Failed, "no sandbox" }, "no sandbox"},
		{"long diff", files, gold, patchA("wrong", long), nil, "the diffs of a.go: too much to compare"},
	} {
		if r := similar(t, c.files, c.gold, c.patch, c.change); r.Value != 0 || !strings.Contains(r.Failure, c.want) {
			t.Errorf("%s: %v %q, want a failure that names %q", c.name, r.Value, r.Failure, c.want)
		}
	}
}

// TestSimilarityOfImages: patches of tasks whose files are in an image are compared as
// they are written.
func TestSimilarityOfImages(t *testing.T) {
	gold := patchA("wrong", "right")
	for patch, want := range map[string]float64{gold: 1, "": 0, strings.Replace(gold, "a.go", "b.go", -1): 0} {
		r := similar(t, nil, gold, patch, func(tr *schemas.Trajectory) { tr.Task.Image = "i" })
		if r.Failure != "" || r.Value != want {
			t.Errorf("%q: %v %q, want %v", patch, r.Value, r.Failure, want)
		}
	}
}

// TestSimilarityStops: the end of the caller's context, before or in the middle of a
// comparison, is neither reward nor failure.
func TestSimilarityStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Similarity{}).Score(ctx, schemas.Trajectory{}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped before: %v", err)
	}
	why := errors.New("the scorer stops")
	files := []schemas.File{{Path: "a.go", Content: "wrong\n"}}
	late := &lateEnd{Context: t.Context(), looks: 3, why: why}
	r, err := Similarity{}.Score(late, schemas.Trajectory{ID: "g#0.0", Termination: schemas.Finished,
		Task: schemas.Task{ID: "t", Files: files, GoldPatch: patchA("wrong", "right")}, Patch: patchA("wrong", "other")})
	if !errors.Is(err, why) || r.Failure != "" || r.Value != 0 {
		t.Errorf("stopped in the middle: %+v, %v", r, err)
	}
}

// lateEnd is a context that ends when it has been looked at a number of times.
type lateEnd struct {
	context.Context
	looks int
	why   error
}

func (c *lateEnd) Err() error {
	if c.looks--; c.looks < 0 {
		return c.why
	}
	return nil
}
