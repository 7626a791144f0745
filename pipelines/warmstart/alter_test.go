package warmstart

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"millrace/transforms/inject"
	"millrace/transforms/rollout/tools"
)

// says is the expert's turn as a message.
func says(thought, name string, args map[string]string) Message {
	return Message{"assistant", turn{thought, tools.Call{Name: name, Args: args}}.String()}
}

func editing(thought, from, to string) Message {
	return says(thought, "file_editor", map[string]string{"command": "str_replace", "path": "p.go", "old_str": from, "new_str": to})
}

// TestAlter: lines change, the list and the edits change with them, and nothing
// else does.
func TestAlter(t *testing.T) {
	source := "// Package p has 1 function: x < 1.\npackage p\n\nfunc f(a, b int) bool {\n\tif a < 10 && b <= a+1 {\n\t\treturn a*3 == b%2\n\t}\n\treturn a > 5\n}"
	before := Demonstration{Messages: []Message{
		{"user", "f(1, 2) = false, want true.\nFiles: p.go p_test.go"},
		says("", "file_editor", map[string]string{"command": "view", "path": "p.go"}),
		{"user", viewOf(source)},
		says("", "execute_bash", map[string]string{"cmd": listOperators + "p.go"}),
		{"user", list(t, source)},
		editing("1\na < 10\n", "a < 10", "a <= 10"),
		{"user", "edited p.go"},
		says("", "execute_bash", map[string]string{"cmd": "go test"}),
		{"user", "exit code 1\np_test.go:7: f(1, 2) = false, want true"},
		editing("6\nreturn a > 5\n", "a < 5", "a > 5"), // the file holds what it would put
	}}
	const view, listed, fix, slip = 2, 4, 5, 9
	changed := map[string]bool{}
	for seed := range uint64(50) {
		after := before.Alter(rand.New(rand.NewPCG(seed, 0)))
		for i := range before.Messages {
			was, is := before.Messages[i].Content, after.Messages[i].Content
			if !slices.Contains([]int{view, listed, fix, slip}, i) && was != is {
				t.Fatalf("message %d: %q became %q", i, was, is)
			}
		}
		lines := fileLines(after.Messages[view].Content)
		if viewOf(strings.Join(lines, "\n")) != after.Messages[view].Content || lines[0] != "// Package p has 1 function: x < 1." {
			t.Fatalf("the view became %q", after.Messages[view].Content)
		}
		if want := list(t, strings.Join(lines, "\n")+"\n"); after.Messages[listed].Content != want {
			t.Fatalf("the list became %q, want that of the altered file, %q", after.Messages[listed].Content, want)
		}
		for i, line := range map[int]string{fix: lines[4], slip: lines[7]} {
			said := spoken(after.Messages[i])
			if said == nil {
				t.Fatalf("the edit became %q", after.Messages[i].Content)
			}
			from, to := said.call.Args["old_str"], said.call.Args["new_str"]
			if i == slip {
				from, to = to, from
			}
			if !strings.Contains(line, from) || !strings.HasSuffix(said.thought, from+"\n") {
				t.Errorf("seed %d: the edit is of %q, the thought %q, the line %q", seed, from, said.thought, line)
			}
			changed[from] = true
			// It stays an edit that the expert would try, unless another line now holds
			// its text as well.
			once := strings.Count(after.Messages[view].Content, from) == 1
			if i == fix && once && !slices.Contains(edits(candidates(after.Messages[view].Content, []inject.Kind{inject.FlipOperators, inject.Boundary})), edit{from, to}) {
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
	d := Demonstration{Messages: []Message{{"user", view}, editing("", "x < 10", "x > 10")}}
	changed := map[string]bool{}
	for seed := range uint64(30) {
		after := d.Alter(rand.New(rand.NewPCG(seed, 0)))
		said := spoken(after.Messages[1])
		if said == nil {
			t.Fatalf("the edit became %q", after.Messages[1].Content)
		}
		text := said.call.Args["old_str"]
		if n := strings.Count(after.Messages[0].Content, text); n != 2 {
			t.Errorf("%q is %d times in\n%s", text, n, after.Messages[0].Content)
		}
		changed[text] = true
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
