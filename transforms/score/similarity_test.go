package score

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// TestRatio: values that CPython's difflib gives.
func TestRatio(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"abcd", "bcde", 0.75},
		{"private Thread currentThread;", "private volatile Thread currentThread;", 0.8656716417910447},
		{"qabxcd", "abycdf", 0.6666666666666666},
		{"", "", 1},
		{"é日本", "é本日", 0.6666666666666666},
		{"tide", "diet", 0.25},
		{"diet", "tide", 0.5}, // it is not symmetric
	} {
		if got := ratio(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestUnifiedDiff: what CPython's unified_diff writes behind its two heads.
func TestUnifiedDiff(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"equal", "a\nb\n", "a\nb\n", ""},
		{"line end at the end of the file", "a", "a\n", ""},
		{"line ends", "a\r\nb\r\n", "a\nb\n", ""},
		{"from nothing", "", "x\ny\n", "@@ -0,0 +1,2 @@\n+x\n+y"},
		{"to nothing", "x\n", "", "@@ -1 +0,0 @@\n-x"},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c"},
		{"two hunks", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n2\n3\n4\n5\n6\n7\n8\n0\n",
			"@@ -1,4 +1,4 @@\n-1\n+0\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+0"},
		{"Python's other line ends", "a\vb\u2028c", "a\vX\u2028c", "@@ -1,3 +1,3 @@\n a\n-b\n+X\n c"},
	} {
		if got := unifiedDiff(c.before, c.after); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

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
	long := strings.Repeat("x", similarityLimit)
	for _, c := range []struct {
		name   string
		files  []schemas.File
		gold   string
		patch  string
		change func(*schemas.Trajectory)
		want   string
	}{
		{"image", nil, gold, gold, nil, "holds no files"},
		{"no gold patch", files, "", gold, func(tr *schemas.Trajectory) { tr.Termination = schemas.Malformed }, "no gold patch"},
		{"gold patch of other files", files, patchA("other", "right"), gold, nil, "applying the gold patch"},
		{"patch of other files", files, gold, patchA("other", "right"), nil, "applying the agent's patch"},
		{"tombstone", files, gold, "", func(tr *schemas.Trajectory) { tr.Termination, tr.Failure = schemas.Failed, "no sandbox" }, "no sandbox"},
		{"long diff", files, gold, patchA("wrong", long), nil, "more than the 32768"},
	} {
		if r := similar(t, c.files, c.gold, c.patch, c.change); r.Value != 0 || !strings.Contains(r.Failure, c.want) {
			t.Errorf("%s: %v %q, want a failure that names %q", c.name, r.Value, r.Failure, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Similarity{}).Score(ctx, schemas.Trajectory{}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// FuzzUnifiedDiff: the hunks of a diff tell the lines they hold, and only equal texts,
// but for line ends, have none.
func FuzzUnifiedDiff(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n")
	f.Add("", "x")
	f.Add("a\x85b\r\n\r", "\u2028")
	f.Fuzz(func(t *testing.T, before, after string) {
		if len(before)+len(after) > 1<<12 {
			return
		}
		a, b := splitLines(before), splitLines(after)
		equal := strings.Join(a, "\n") == strings.Join(b, "\n") && len(a) == len(b)
		if d := unifiedDiff(before, after); (d == "") != equal {
			t.Errorf("%q, %q: diff %q", before, after, d)
		}
	})
}
