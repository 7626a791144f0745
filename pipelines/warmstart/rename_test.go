package warmstart

import (
	"go/parser"
	"go/token"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
	"millrace/transforms/rollout/tools"
)

// tricky declares names that stand elsewhere as an escape, a rune, a digit's
// exponent, a builtin or a word of the tools.
const tricky = `package tally

// Tally counts a in n.
func Tally(n string, a rune, path int) (int, bool) {
	max, ok := 0, len(n) > 0x1f
	for _, e := range n {
		if e == a || e == '\n' || e == 'a' || "a\nb" == n {
			max++
		}
	}
	return max + path + int(1e3), ok
}
`

func demo() Demonstration {
	task := schemas.Task{ID: "t", Files: []schemas.File{{Path: "tally.go", Content: tricky}, {Path: "tally_test.go", Content: "package tally\nvar hidden int"}}}
	edit := tools.Call{Name: "file_editor", Args: map[string]string{"command": "str_replace", "path": "tally.go",
		"old_str": "\t\t\tmax++", "new_str": "\t\t\tmax--"}}
	return Demonstration{TaskID: "t", Names: names(task), Messages: []Message{
		{"system", "You repair Go code."},
		{"user", "Tally is broken: TestTally fails.\nFiles: tally.go tally_test.go"},
		{"assistant", tools.Format(tools.Call{Name: "file_editor", Args: map[string]string{"command": "view", "path": "tally.go"}})},
		{"user", viewOf(tricky)},
		{"assistant", tools.Format(edit)},
		{"user", "edited tally.go"},
		{"assistant", tools.Format(tools.Call{Name: "execute_bash", Args: map[string]string{"cmd": "go test"}})},
		{"user", "ok  \ttally"},
	}}
}

func TestNames(t *testing.T) {
	// path, max, ok: words of the tools and of Go. hidden: of a test.
	if diff := cmp.Diff([]string{"Tally", "a", "e", "n", "tally"}, demo().Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// TestRename: the renamed file is still Go, no name is left over, the calls
// still mean the same files and tools, and the test run still passes.
func TestRename(t *testing.T) {
	d := demo()
	dictionary := Recording{Demonstrations: []Demonstration{{Names: []string{"limit", "a", "Limit", "cutoff"}}, {Names: []string{"limit"}}}}.dictionary()
	if diff := cmp.Diff([]string{"cutoff", "limit"}, dictionary); diff != "" {
		t.Fatalf("dictionary (-want +got):\n%s", diff)
	}
	used := map[bool]int{}
	for seed := range uint64(200) {
		r := d.Rename(rand.New(rand.NewPCG(seed, 0)), dictionary)
		if again := d.Rename(rand.New(rand.NewPCG(seed, 0)), dictionary); cmp.Diff(r, again) != "" {
			t.Fatalf("seed %d gives two renamings", seed)
		}
		source := strings.Join(fileLines(r.Messages[3].Content), "\n")
		file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, source)
		}
		pkg := file.Name.Name
		fn := strings.Fields(r.Messages[1].Content)[0]
		want := "is broken: Test" + fn + " fails.\nFiles: " + pkg + ".go " + pkg + "_test.go"
		if !strings.HasSuffix(r.Messages[1].Content, want) || !token.IsExported(fn) || pkg == "tally" || fn == "Tally" {
			t.Errorf("seed %d: task %q, package %s", seed, r.Messages[1].Content, pkg)
		}
		for _, keep := range []string{`'\n'`, `'a'`, `"a\nb"`, "0x1f", "1e3", "max, ok := 0, len(", "path int"} {
			if !strings.Contains(source, keep) {
				t.Errorf("seed %d: %q is gone:\n%s", seed, keep, source)
			}
		}
		used[slices.Contains(dictionary, pkg)]++
		if !strings.Contains(source, "func "+fn+"(") {
			t.Errorf("seed %d: no function %s in\n%s", seed, fn, source)
		}
		_, call, ok, err := tools.Parse(r.Messages[4].Content)
		if !ok || err != nil || call.Name != "file_editor" || call.Args["path"] != pkg+".go" || !strings.Contains(source, call.Args["old_str"]) {
			t.Errorf("seed %d: call %+v, %v", seed, call, err)
		}
		if last := r.Messages[7].Content; !passed(last) || last != "ok  \t"+pkg {
			t.Errorf("seed %d: test run %q", seed, last)
		}
	}
	if used[true] < 50 || used[false] < 50 {
		t.Errorf("names from the dictionary, made up: %v", used)
	}
	if diff := cmp.Diff(demo(), d); diff != "" {
		t.Errorf("Rename changed its receiver:\n%s", diff)
	}
}

// TestRenameRunsOutOfShortNames: more names of one letter than there are made-up
// ones is no endless loop, and no two of them become one.
func TestRenameRunsOutOfShortNames(t *testing.T) {
	var d Demonstration
	for a := 'a'; a <= 'z'; a++ {
		for _, b := range "jkq" {
			d.Names = append(d.Names, string([]rune{a, b}))
		}
	}
	d.Messages = []Message{{"user", strings.Join(d.Names, " ")}}
	seen := map[string]bool{}
	for _, w := range strings.Fields(d.Rename(rand.New(rand.NewPCG(1, 1)), nil).Messages[0].Content) {
		seen[w] = true
	}
	if len(seen) != len(d.Names) {
		t.Errorf("%d names became %d", len(d.Names), len(seen))
	}
}
