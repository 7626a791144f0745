package score

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/swerl"
)

// answered is an answer with a solution.
func answered(solution string) string {
	return "<think>\nso\n</think>\n<solution>\n" + solution + "\n</solution>"
}

func edited(path, search, replace string) string {
	return fmt.Sprintf("```python\n### %s\n<<<<<<< SEARCH\n%s\n=======\n%s\n>>>>>>> REPLACE\n```\n", path, search, replace)
}

// oddity is a case of SWE-RL's reward, and what its own function gives: a value, or one
// between 0 and 1.
type oddity struct {
	name, solution string
	low, high      float64
}

// TestAnswerSimilarity: every oddity of the published reward.
func TestAnswerSimilarity(t *testing.T) {
	const path, inside = "a.py", "    return a + b"
	files := []schemas.File{{Path: path, Content: python}}
	gold := []schemas.File{{Path: path, Content: strings.ReplaceAll(python, inside, inside+" + 0")}}
	right := edited(path, inside, inside+" + 0")
	exactly := func(v float64, name, solution string) oddity { return oddity{name, solution, v, v} }
	partly := func(name, solution string) oddity {
		return oddity{name, solution, math.SmallestNonzeroFloat64, math.Nextafter(1, 0)}
	}
	for _, c := range []oddity{
		exactly(1, "the gold edit", right),
		exactly(0.8907563025210085, "the start of a line", edited(path, "    return a", "    return Z")),
		exactly(0.9019607843137255, "the line deleted leaves an empty one", edited(path, inside, "")),
		exactly(0.7422680412371134, "two blocks in one fence are one edit", "```python\n### a.py\n<<<<<<< SEARCH\n"+inside+"\n=======\n    return 1\n>>>>>>> REPLACE\n"+
			"<<<<<<< SEARCH\n    return a - b\n=======\n    return 2\n>>>>>>> REPLACE\n```"),
		exactly(BadFormat, "of no file, with a search", edited("b.py", "x", "y")),
		exactly(0.5, "a new file that gold has not", right+edited("b.py", "", "x = 1")),
		exactly(0, "a new file alone", edited("b.py", "", "x = 1")),
		partly("an empty search stands at every line's start", edited(path, "", "#")),
		exactly(BadFormat, "an empty search without its line", "```\n### a.py\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n```"),
		exactly(BadFormat, "an empty replacement without its line", "```\n### a.py\n<<<<<<< SEARCH\n"+inside+"\n=======\n>>>>>>> REPLACE\n```"),
		exactly(BadFormat, "a comment behind the fence", strings.Replace(right, "### a.py", "# what follows\n### a.py", 1)),
		exactly(BadFormat, "the path before the fence", "### a.py\n"+strings.Replace(right, "### a.py\n", "", 1)),
		exactly(1, "text before the fence", "text "+right),
		exactly(0, "edits that cancel out", edited(path, inside, "    pass")+edited(path, "    pass", inside)),
		exactly(BadFormat, "an edit by itself beside the gold one", right+edited(path, "def add(a, b):", "def add(a, b):")),
		exactly(BadFormat, "no end of the block", strings.Replace(right, ">>>>>>> REPLACE\n", "", 1)),
		exactly(1, "an end of the file is no change", right+edited(path, "    return a - b", "    return a - b\n")),
	} {
		got, err := AnswerSimilarity(t.Context(), files, gold, answered(c.solution))
		if err != nil || got < c.low || got > c.high {
			t.Errorf("%s: %v, %v, want %v to %v", c.name, got, err, c.low, c.high)
		}
	}
	for _, c := range []struct {
		name, output string
		want         float64
	}{
		{"the thought behind the solution", "</think><solution>" + right + "</solution><think>zz", 1},
		{"the solution in the thought", "<think>q<solution>" + right + "</solution></think>", 1},
		{"an unclosed tag", strings.Replace(answered(right), "</solution>", "", 1), BadFormat},
		{"an empty thought", "<think> </think><solution>" + right + "</solution>", BadFormat},
	} {
		if got, err := AnswerSimilarity(t.Context(), files, gold, c.output); err != nil || got != c.want {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	cancels := answered(edited(path, inside, "    pass") + edited(path, "    pass", inside))
	if got, err := AnswerSimilarity(t.Context(), files, files, cancels); err != nil || got != 1 {
		t.Errorf("neither changes anything: %v, %v, want 1", got, err)
	}
	everywhere := []schemas.File{{Path: path, Content: "x\ny\nx\n"}}
	if got, err := AnswerSimilarity(t.Context(), everywhere, []schemas.File{{Path: path, Content: "z\ny\nz\n"}},
		answered(edited(path, "x", "z"))); err != nil || got != 1 {
		t.Errorf("a search that stands twice: %v, %v, want 1", got, err)
	}
}

// TestAnswerIsItsPatch: an answer is worth as much as the trajectory of the single-turn
// agent that turns it into a patch, and so is the mean over several files.
func TestAnswerIsItsPatch(t *testing.T) {
	files := []schemas.File{{Path: "a.py", Content: python}, {Path: "b.py", Content: "b\n"}, {Path: "c.py", Content: "c\r\n\fd"}}
	gold, err := swerl.Apply(files, []swerl.Edit{{Path: "a.py", Search: "    return a + b", Replace: "    return b + a"}, {Path: "b.py", Search: "b", Replace: "B"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		solution string
		want     float64
	}{
		{edited("a.py", "    return a + b", "    return b + a") + edited("b.py", "b", "B"), 1},
		{edited("b.py", "b", "B"), 0.5},
		{edited("b.py", "b", "B") + edited("c.py", "\fd", "e"), 1.0 / 3},
		{edited("d.py", "", "d"), 0},
	} {
		got, err := AnswerSimilarity(t.Context(), files, gold, answered(c.solution))
		if err != nil || math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s: %v, %v, want %v", c.solution, got, err, c.want)
		}
		patch, err := swerl.Patch(files, answered(c.solution))
		if err != nil {
			t.Fatal(err)
		}
		if r := similar(t, files, sandbox.Diff(files, gold), patch, nil); r.Value != got || r.Failure != "" {
			t.Errorf("%s: its patch has reward %v %q, the answer %v", c.solution, r.Value, r.Failure, got)
		}
	}
}

// TestAnswerStops: the end of the context is no reward.
func TestAnswerStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	files := []schemas.File{{Path: "a.py", Content: python}}
	got, err := AnswerSimilarity(ctx, files, nil, answered(edited("a.py", "def add", "def sub")))
	if got != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", got, err)
	}
}

// FuzzAnswerSimilarity: whatever a model says is worth -1, or 0 to 1.
func FuzzAnswerSimilarity(f *testing.F) {
	f.Add(answered(edited("a.py", "    return a + b", "    return b + a")))
	f.Add("<think>q<solution>" + edited("a.py", "", "#") + "</solution></think>")
	f.Fuzz(func(t *testing.T, answer string) {
		files := []schemas.File{{Path: "a.py", Content: python}}
		gold := slices.Clone(files)
		gold[0].Content += "\n#"
		got, err := AnswerSimilarity(t.Context(), files, gold, answer)
		if err != nil || got != BadFormat && !(got >= 0 && got <= 1) {
			t.Errorf("%q: %v, %v", answer, got, err)
		}
	})
}
