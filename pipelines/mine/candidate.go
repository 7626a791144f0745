package mine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"millrace/schemas"
	"millrace/transforms/inject"
)

const (
	// testCommand runs visible and hidden tests. The count keeps the go command
	// from answering out of its cache, which an agent could have written to; the
	// time limit ends a patch that loops (a test takes milliseconds).
	testCommand = "go test -json -count=1 -timeout 10s ."
	testFormat  = "go-test-json"
	// goDirective is the language version of the workspaces' go.mod.
	goDirective = "1.26"
)

// The files of a default task. They are named alike in all tasks: the agent names
// the file in nearly every call, and a policy that is to learn to search should
// not fail to spell.
const (
	SourceFile  = "code.go"
	VisibleTest = "code_test.go"
	HiddenTest  = "code_hidden_test.go"
)

// Candidate is a fault in a program, not yet run.
type Candidate struct {
	Program Program
	Fault   inject.Fault
	// Task has all fields that need no test run: everything but the statement,
	// the expected results and the split.
	Task schemas.Task
}

// Candidates returns the distinct faults of a program that compile, in the
// order of their place. It depends on the program's text alone.
func Candidates(p Program) ([]Candidate, error) {
	mutants, err := inject.Mutants(SourceFile, []byte(p.Source), nil)
	if err != nil {
		return nil, fmt.Errorf("making faults in program %s: %w", p.Name, err)
	}
	out := make([]Candidate, 0, len(mutants))
	for _, m := range mutants {
		gold, err := unified(SourceFile, string(m.Source), p.Source)
		if err != nil {
			return nil, fmt.Errorf("making the gold patch of %v in program %s: %w", m.Fault, p.Name, err)
		}
		out = append(out, Candidate{Program: p, Fault: m.Fault, Task: schemas.Task{
			ID:          taskID(p.Name, m),
			Repo:        p.Name,
			Files:       p.workspace(string(m.Source)),
			HiddenTests: []schemas.File{{Path: HiddenTest, Content: p.Hidden}},
			TestCommand: testCommand,
			TestFormat:  testFormat,
			GoldPatch:   gold,
		}})
	}
	return out, nil
}

// taskID names a fault by program, kind and content, so the same fault has the
// same id in every set that is ever made of the same program.
func taskID(name string, m inject.Mutant) string {
	sum := sha256.Sum256(m.Source)
	return fmt.Sprintf("%s/%s/%s", name, m.Kind, hex.EncodeToString(sum[:4]))
}

// workspace returns what the agent finds: the module, the given source and the
// visible test, sorted by path.
func (p Program) workspace(source string) []schemas.File {
	return []schemas.File{
		{Path: SourceFile, Content: source},
		{Path: VisibleTest, Content: p.Visible},
		{Path: "go.mod", Content: "module " + p.Name + "\n\ngo " + goDirective + "\n"},
	}
}

// unified returns the git diff from before to after of one file, both of which
// end in a line break. (difflib's own SplitLines adds an empty last line.)
func unified(path, before, after string) (string, error) {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A:        slices.Collect(strings.Lines(before)),
		B:        slices.Collect(strings.Lines(after)),
		FromFile: "a/" + path,
		ToFile:   "b/" + path,
		Context:  3, // git's default
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("diff --git a/%s b/%s\n%s", path, path, text), nil
}
