package warmstart

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"millrace/transforms/inject"
	"millrace/transforms/rollout/tools"
)

// altered is a demonstration with a view, an edit, a slip and a test, altered.
func altered(seed uint64) (before, after Demonstration) {
	source := "// Package p has 1 function: x < 1.\npackage p\n\nfunc f(a, b int) bool {\n\tif a < 10 && b <= a+1 {\n\t\treturn a*3 == b%2\n\t}\n\treturn a > 5\n}"
	edit := func(from, to string) Message {
		return Message{"assistant", tools.Format(tools.Call{Name: "file_editor", Args: map[string]string{"command": "str_replace", "path": "p.go", "old_str": from, "new_str": to}})}
	}
	before = Demonstration{Messages: []Message{
		{"user", "f(1, 2) = false, want true.\nFiles: p.go p_test.go"},
		{"assistant", tools.Format(tools.Call{Name: "file_editor", Args: map[string]string{"command": "view", "path": "p.go"}})},
		{"user", viewOf(source)},
		edit(" a < 10", " a <= 10"),
		{"user", "edited p.go"},
		{"assistant", tools.Format(tools.Call{Name: "execute_bash", Args: map[string]string{"cmd": "go test"}})},
		{"user", "exit code 1\np_test.go:7: f(1, 2) = false, want true"},
		edit(" a < 5", " a > 5"), // the file holds what it would put
	}}
	return before, before.Alter(rand.New(rand.NewPCG(seed, 0)))
}

// TestAlter: lines change, the edits change with them, and nothing else does.
func TestAlter(t *testing.T) {
	changed := map[string]bool{}
	for seed := range uint64(50) {
		before, after := altered(seed)
		for i := range before.Messages {
			was, is := before.Messages[i].Content, after.Messages[i].Content
			if i != 2 && i != 3 && i != 7 && was != is {
				t.Fatalf("message %d: %q became %q", i, was, is)
			}
		}
		lines := fileLines(after.Messages[2].Content)
		if viewOf(strings.Join(lines, "\n")) != after.Messages[2].Content || lines[0] != "// Package p has 1 function: x < 1." {
			t.Fatalf("the view became %q", after.Messages[2].Content)
		}
		for i, line := range map[int]string{3: lines[4], 7: lines[7]} {
			_, call, ok, err := tools.Parse(after.Messages[i].Content)
			if !ok || err != nil {
				t.Fatalf("the edit became %q: %v", after.Messages[i].Content, err)
			}
			from, to := call.Args["old_str"], call.Args["new_str"]
			if i == 7 {
				from, to = to, from
			}
			if !strings.Contains(line, from) {
				t.Errorf("seed %d: the edit is of %q, the line is %q", seed, from, line)
			}
			changed[from] = true
			// It stays an edit that the expert would try, unless another line now holds
			// its text as well.
			once := strings.Count(after.Messages[2].Content, from) == 1
			if i == 3 && once && !slices.Contains(edits(candidates(after.Messages[2].Content, []inject.Kind{inject.FlipOperators, inject.Boundary})), edit{from, to}) {
				t.Errorf("seed %d: %q -> %q is no candidate of %q", seed, from, to, line)
			}
		}
	}
	if len(changed) < 20 {
		t.Errorf("50 seeds gave %d different edits", len(changed))
	}
}

// TestLinesThatShareAnEditChangeAlike: a text that is refused because it is
// there twice is so in the altered file.
func TestLinesThatShareAnEditChangeAlike(t *testing.T) {
	view := viewOf("package p\n\nfunc f(x, y int) {\n\tif x < 10 {\n\t\tx++\n\t} else if x < 10 && y > 3 {\n\t\tx--\n\t}\n}")
	edit := tools.Call{Name: "file_editor", Args: map[string]string{"command": "str_replace", "path": "p.go", "old_str": " x < 10", "new_str": " x > 10"}}
	d := Demonstration{Messages: []Message{{"user", view}, {"assistant", tools.Format(edit)}}}
	changed := map[string]bool{}
	for seed := range uint64(30) {
		after := d.Alter(rand.New(rand.NewPCG(seed, 0)))
		call, ok := replacement(after.Messages[1])
		if !ok {
			t.Fatalf("the edit became %q", after.Messages[1].Content)
		}
		if n := strings.Count(after.Messages[0].Content, call.Args["old_str"]); n != 2 {
			t.Errorf("%q is %d times in\n%s", call.Args["old_str"], n, after.Messages[0].Content)
		}
		changed[call.Args["old_str"]] = true
	}
	if len(changed) < 10 {
		t.Errorf("30 seeds gave %d different edits", len(changed))
	}
}

// TestAlterLeavesNoTwinBehind: for every operator, altering and then taking the
// twin is taking the twin and then altering.
func TestAlterLeavesNoTwinBehind(t *testing.T) {
	const source = "package p\n\nfunc f(a, b int) bool {\n\ta = a %s b\n\treturn true\n}"
	for _, op := range strings.Fields("< <= > >= == != && || + - * /") {
		line := "\ta = a " + op + " b"
		for seed := range uint64(20) {
			a := newAlteration(rand.New(rand.NewPCG(seed, 0)), line)
			for _, twin := range edits(candidates(viewOf(strings.Replace(source, "%s", op, 1)), []inject.Kind{inject.FlipOperators, inject.Boundary})) {
				want := edits(candidates(viewOf(a.apply(strings.Replace(source, "%s", op, 1))), []inject.Kind{inject.FlipOperators, inject.Boundary}))
				if got := (edit{a.apply(twin.before), a.apply(twin.after)}); !slices.Contains(want, got) {
					t.Errorf("%s altered by %v: %v is none of %v", op, a, got, want)
				}
			}
		}
	}
}
