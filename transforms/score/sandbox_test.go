//go:build linux

package score

import (
	"strings"
	"testing"

	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/sandbox/sandboxtest"
	"millrace/transforms/testlog"
)

// TestRealTests scores with the go command in the process sandbox: a fault, its
// repair, a repair that does not compile, an agent that rewrites the visible
// test, and one that hangs.
func TestRealTests(t *testing.T) {
	provider := sandboxtest.Process(t, sandbox.Limits{})
	const (
		right = "package m\n\nfunc Max(a, b int) int {\n\tif a > b {\n\t\treturn a\n\t}\n\treturn b\n}\n"
		test  = "package m\n\nimport \"testing\"\n\n"
	)
	wrong := strings.Replace(right, ">", "<", 1)
	task := schemas.Task{
		ID: "max",
		Files: []schemas.File{
			{Path: "go.mod", Content: "module example.com/m\n\ngo 1.26\n"},
			{Path: "max.go", Content: wrong},
			{Path: "max_test.go", Content: test + "func TestEqual(t *testing.T) {\n\tif Max(2, 2) != 2 {\n\t\tt.Fail()\n\t}\n}\n"},
		},
		HiddenTests: []schemas.File{{Path: "hidden_test.go",
			Content: test + "func TestMax(t *testing.T) {\n\tif got := Max(1, 2); got != 2 {\n\t\tt.Errorf(\"Max(1, 2) = %d\", got)\n\t}\n}\n"}},
		TestCommand: "go test -json -timeout 3s ./...", TestFormat: testlog.GoTestJSON,
		FailToPass: []string{"TestMax"}, PassToPass: []string{"example.com/m.TestEqual"},
	}
	becomes := func(content string) string {
		files := append([]schemas.File(nil), task.Files...)
		files[1].Content = content
		files[2].Content = strings.Replace(files[2].Content, "!=", "==", 1) // the visible test, broken
		return sandbox.Diff(task.Files, files)
	}
	s := newScorer(t, provider, nil)
	for _, tt := range []struct {
		name, patch string
		value       float64
		output      string
	}{
		{"as it is", "", 0, "Max(1, 2) = 1"},
		{"repaired", becomes(right), 1, "ok"},
		{"does not compile", becomes(right + "}"), 0, "syntax error"},
		{"hangs", becomes(strings.Replace(right, "\tif", "\tfor {\n\t}\n\tif", 1)), 0, "test timed out"},
	} {
		r := score(t, s, schemas.Trajectory{ID: tt.name, GroupID: "g", Task: task, Patch: tt.patch, Termination: schemas.Finished})
		if r.Value != tt.value || r.Failure != "" || !strings.Contains(r.Output, tt.output) {
			t.Errorf("%s: value %v, failure %q, passed %v, failed %v, output:\n%s", tt.name, r.Value, r.Failure, r.Passed, r.FailedTests, r.Output)
		}
	}
}
