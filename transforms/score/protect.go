package score

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"millrace/schemas"
)

// guarded are files that a Python test run reads before it collects a test, and
// by which a patch could pass all of them. No gold patch of the datasets changes
// one: their name makes them part of the tests.
var guarded = []string{"conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.ini"}

// withoutTests returns a patch without the files that belong to the tests: those
// that the task restores or that hold its hidden tests, what [guarded] names,
// and where Go's tests decide, what [isTest] says.
func withoutTests(task schemas.Task, patch string) (string, error) {
	belongs := map[string]bool{}
	for _, p := range task.TestFiles {
		belongs[p] = true
	}
	for _, f := range task.HiddenTests {
		belongs[f.Path] = true
	}
	tests, _, err := gitdiff.Parse(strings.NewReader(task.TestPatch))
	if err != nil {
		return "", fmt.Errorf("the task's test patch: %w", err)
	}
	for _, f := range tests {
		belongs[f.OldName], belongs[f.NewName] = true, true
	}
	delete(belongs, "") // the other name of a file that is new or deleted
	own, _, err := gitdiff.Parse(strings.NewReader(patch))
	if err != nil {
		return "", err
	}
	goTests := strings.HasPrefix(task.TestFormat, "go-test")
	protected := func(name string) bool {
		return belongs[name] || slices.Contains(guarded, path.Base(name)) || goTests && isTest(name)
	}
	var kept strings.Builder
	for _, f := range own {
		if !protected(f.OldName) && !protected(f.NewName) {
			kept.WriteString(f.String())
		}
	}
	return kept.String(), nil
}
