package warmstart

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/transforms/inject"
)

// viewOf numbers a source as the editor's view does.
func viewOf(source string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(source, "\n"), "\n") {
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, line)
	}
	return strings.TrimRight(b.String(), "\n")
}

// short names a turn in a transcript.
func short(t turn) string {
	c := t.call
	switch {
	case c.Args["command"] == "str_replace":
		number, _, _ := strings.Cut(t.thought, "\n")
		return strings.TrimSpace(fmt.Sprintf("%s %s -> %s", number, strings.TrimSpace(c.Args["old_str"]), strings.TrimSpace(c.Args["new_str"])))
	case c.Name == "file_editor":
		return c.Args["command"] + " " + c.Args["path"]
	case strings.HasPrefix(c.Args["cmd"], listOperators):
		return "list " + c.Args["cmd"][len(listOperators):]
	case c.Name == "execute_bash":
		return c.Args["cmd"]
	}
	return c.Name
}

// TestExpert plays observations to the expert. The file has one candidate, + to
// -, so nothing is left to chance; a habit is 0 or 1.
func TestExpert(t *testing.T) {
	file := viewOf("package p\n\nfunc f(a, b int) int {\n\tc := a + b\n\treturn c\n}\n")
	const list, listed = "list p.go", "1\na + b"
	const plus, minus = "1 a + b -> a - b", "1 a - b -> a + b"
	const wide, twice = ":= a + b -> := a - b", "ERROR: old_str is in p.go more than once (lines 4, 9)"
	for _, c := range []struct {
		name   string
		habits Habits
		play   []string // observation, call, observation, call ...
	}{
		{"green at once", Habits{}, []string{"task", "view p.go", file, list, listed, plus, "edited p.go", "go test", "ok  \tp", "finish"}},
		{"red, undone, nothing left", Habits{}, []string{"task", "view p.go", file, list, listed, plus, "edited p.go", "go test", "exit code 1\nFAIL\tp",
			"undo_edit p.go", "undone p.go", "finish"}},
		{"refused edit", Habits{}, []string{"task", "view p.go", file, list, listed, plus, "ERROR: old_str is not in p.go", "finish"}},
		{"text that is there twice", Habits{}, []string{"task", "view p.go", file, list, listed, plus, twice, wide, twice, "c " + strings.ReplaceAll(wide, "-> ", "-> c "), twice, "finish"}},
		{"file is not there", Habits{}, []string{"task", "view p.go", "ERROR: p.go does not exist", "finish"}},
		{"file does not parse", Habits{}, []string{"task", "view p.go", viewOf("package p\nfunc {"), "finish"}},
		{"gives up", Habits{GiveUp: 1}, []string{"task", "view p.go", file, list, listed, plus, "edited p.go", "go test", "exit code 1\nFAIL\tp", "finish"}},
		{"patient", Habits{GiveUp: 1, Patient: 1}, []string{"task", "view p.go", file, list, listed, plus, "edited p.go", "go test", "exit code 1\nFAIL\tp", "undo_edit p.go"}},
		{"skips the tests", Habits{SkipTest: 1}, []string{"task", "view p.go", file, list, listed, plus, "edited p.go", "finish"}},
		{"tests first, once", Habits{TestFirst: 1}, []string{"task", "go test", "ok  \tp", "view p.go", file, list, listed, plus, "edited p.go", "go test"}},
		{"fiddles", Habits{Fiddle: 1}, []string{"task", "view p.go", file, list, listed, plus, "edited p.go", "undo_edit p.go", "undone p.go", "finish"}},
		{"slips", Habits{Slip: 1}, []string{"task", "view p.go", file, list, listed, minus, "ERROR: old_str is not in p.go", minus}},
		{"looks again", Habits{LookAgain: 1}, []string{"task", "view p.go", file, list, listed, plus, "edited p.go", "go test", "exit code 1\nFAIL\tp",
			"undo_edit p.go", "undone p.go", "view p.go", file, "finish"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newExpert(c.habits, nil, rand.New(rand.NewPCG(1, 1)), "p.go")
			for i := 0; i < len(c.play); i += 2 {
				if got := short(e.next(c.play[i])); got != c.play[i+1] {
					t.Fatalf("after %q: %q, want %q", c.play[i], got, c.play[i+1])
				}
			}
		})
	}
}

// TestExpertGoesDownTheList: it tries each candidate once, in the order of the
// list, and says before each which entry it is about.
func TestExpertGoesDownTheList(t *testing.T) {
	source := "package p\n\nfunc f(a, b, c, d int) bool {\n\ta = a + 1\n\tb = b &^ 2\n\tc = c*3 - 1\n\treturn d < 4\n}\n"
	e := newExpert(Habits{}, []inject.Kind{inject.FlipOperators, inject.Boundary}, rand.New(rand.NewPCG(1, 1)), "p.go")
	e.next("task")
	e.next(viewOf(source))
	var got []string
	for turn := e.next(list(t, source)); turn.call.Name != "finish"; turn = e.next("undone p.go") {
		got = append(got, short(turn))
		if !strings.HasSuffix(turn.thought, "\n"+turn.call.Args["old_str"]+"\n") {
			t.Errorf("the thought before the edit of %q is %q", turn.call.Args["old_str"], turn.thought)
		}
		e.next("edited p.go")
		e.next("exit code 1\nFAIL\tp")
	}
	want := []string{
		"1 a + 1 -> a - 1",
		"3 = c*3 - -> = c%3 -", "again 3 = c*3 - -> = c/3 -",
		"4 c*3 - 1 -> c*3 + 1",
		"5 d < 4 -> d > 4", "again 5 d < 4 -> d <= 4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tried (-want +got):\n%s", diff)
	}
}

// TestCandidatesUndoFaults makes every fault in a file with each kind of site
// and looks for an edit that gives the file as it was. The exceptions have no reverse.
func TestCandidatesUndoFaults(t *testing.T) {
	const source = `package p

func f(a, b int, ok bool, xs []int) int {
	if !ok {
		a++
	}
	for i := 7; i < len(xs); i++ {
		if a == b {
			continue
		}
		if ok || a >= 3 {
			break
		}
		a += a*b - xs[i]
	}
	return a % b
}
`
	lost := map[string]bool{
		// The file then holds the line twice, and no edit of one line tells them apart.
		"break": true, "continue": true,
	}
	fixes := func(c candidate, broken string) bool {
		for words := 1; words < 9; words++ { // as the expert goes on while the text is there twice
			e := c.edit(words)
			if strings.Count(broken, e.before) == 1 {
				return plain(strings.Replace(broken, e.before, e.after, 1)) == plain(source)
			}
		}
		return false
	}
	kinds := map[inject.Kind]bool{}
	faults, err := inject.Faults("p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		kinds[f.Kind] = true
		broken, err := f.Apply([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		line := strings.Split(string(broken), "\n")[f.Line-1]
		found := slices.ContainsFunc(candidates(viewOf(string(broken)), nil), func(c candidate) bool {
			return fixes(c, string(broken))
		})
		if found == lost[strings.TrimSpace(line)] {
			t.Errorf("%v: candidate that undoes %q found: %v", f, line, found)
		}
	}
	for _, k := range inject.Kinds() {
		if !kinds[k] {
			t.Errorf("the file has no site of %s", k)
		}
	}
}

// plain drops what changes the text and not the meaning: the parentheses that a
// negation of a condition leaves behind.
func plain(line string) string {
	return strings.NewReplacer("(", "", ")", "").Replace(line)
}

func TestCandidatesOfKinds(t *testing.T) {
	view := viewOf("package p\n\nfunc f(a int) bool {\n\treturn a < 3\n}\n")
	want := []edit{{"a < 3", "a <= 3"}}
	if diff := cmp.Diff(want, edits(candidates(view, []inject.Kind{inject.Boundary})), cmp.AllowUnexported(edit{})); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
	if all := candidates(view, nil); len(all) != 4 {
		t.Errorf("%d candidates of all kinds, want 4: %v", len(all), all)
	}
}

// edits are the candidates' narrowest.
func edits(all []candidate) (out []edit) {
	for _, c := range all {
		out = append(out, c.edit(1))
	}
	return out
}

// TestEdit: an edit has the given number of words on each side of the change, as
// far as the line goes.
func TestEdit(t *testing.T) {
	for _, c := range []struct {
		source, at    string
		words         int
		before, after string
	}{
		{"\tif n < 0 {\n", "<", 1, "n < 0", "n >= 0"},
		{"\tif n < 0 {\n", "<", 2, "\tif n < 0 {", "\tif n >= 0 {"},
		{"\tif n < 0 {\n", "<", 3, "\tif n < 0 {", "\tif n >= 0 {"},
		{"\tn++\n", "++", 1, "n++", "n>="},
		{"\tfor i := 0; i < n-1; i++ {\n", "-", 1, "< n-1; i++", "< n>=1; i++"},
		{"\tfor i := 0; i < n-1; i++ {\n", "-", 2, " i < n-1; i++ {", " i < n>=1; i++ {"},
		{"a < 3\n", "<", 1, "a < 3", "a >= 3"},
		{"\tif b > 1 || n < 0 {\n", "<", 2, " || n < 0 {", " || n >= 0 {"},
	} {
		fault := candidate{source: c.source, Fault: inject.Fault{Offset: strings.Index(c.source, c.at), Before: c.at, After: ">="}}
		if got, want := fault.edit(c.words), (edit{c.before, c.after}); got != want {
			t.Errorf("%d words around %q in %q: %q, want %q", c.words, c.at, c.source, got, want)
		}
	}
}

func TestReadingTheChat(t *testing.T) {
	for chat, want := range map[string]string{
		"<|im_start|>system\nA<|im_end|>\n<|im_start|>user\nB\nC<|im_end|>\n<|im_start|>assistant\n": "B\nC",
		"\n<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n":                                    "",
		"no message": "",
	} {
		if got := lastMessage(chat); got != want {
			t.Errorf("lastMessage(%q) = %q, want %q", chat, got, want)
		}
	}
	if path, err := sourceFile("Files: are broken in x.go\nFiles: a_test.go a.go go.sum"); path != "a.go" || err != nil {
		t.Errorf("sourceFile = %q, %v; want a.go", path, err)
	}
	if path, err := sourceFile("Files: a_test.go"); err == nil {
		t.Errorf("sourceFile of tests alone = %q", path)
	}
}

// FuzzReadingTheChat: no chat makes the expert panic, and a path it finds is one
// that the chat names.
func FuzzReadingTheChat(f *testing.F) {
	f.Add("<|im_start|>user\nIt fails.\nFiles: a.go a_test.go<|im_end|>\n<|im_start|>assistant\n")
	f.Add("<|im_end|><|im_start|>")
	f.Add("Files:")
	f.Fuzz(func(t *testing.T, chat string) {
		said := lastMessage(chat)
		if !strings.Contains(chat, said) {
			t.Errorf("message %q is not in %q", said, chat)
		}
		if path, err := sourceFile(said); err == nil && (!strings.Contains(said, path) || !strings.HasSuffix(path, ".go")) {
			t.Errorf("path %q of %q", path, said)
		}
	})
}
