package score

import (
	"fmt"
	"slices"
	"strings"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// Workspace returns the files that the tests of a task are run on, sorted by
// path (invariant 4):
//
//  1. the snapshot with the agent's patch applied;
//  2. every test file as it is in the snapshot: what the patch changed or
//     removed is restored, what it added is left out. Test files are *_test.go,
//     everything below a directory "testdata", and the paths of hidden tests;
//  3. the hidden tests over all of it.
//
// An error means that the patch does not apply to the snapshot it was made
// from. That is our defect, not the agent's.
func Workspace(task schemas.Task, patch string) ([]schemas.File, error) {
	patched, err := sandbox.Apply(task.Files, patch)
	if err != nil {
		return nil, fmt.Errorf("applying the agent's patch to the snapshot of task %s: %w", task.ID, err)
	}
	hidden := make(map[string]bool, len(task.HiddenTests))
	for _, f := range task.HiddenTests {
		hidden[f.Path] = true
	}
	files := make([]schemas.File, 0, len(patched)+len(task.HiddenTests))
	for _, f := range patched {
		if !isTest(f.Path) && !hidden[f.Path] {
			files = append(files, f)
		}
	}
	for _, f := range task.Files {
		if isTest(f.Path) && !hidden[f.Path] {
			files = append(files, f)
		}
	}
	files = append(files, task.HiddenTests...)
	slices.SortFunc(files, func(a, b schemas.File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// isTest reports whether a file belongs to the tests.
func isTest(path string) bool {
	return strings.HasSuffix(path, "_test.go") ||
		strings.HasPrefix(path, "testdata/") || strings.Contains(path, "/testdata/")
}
