package score

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
)

// TestTheAgentNeverSeesTheTests (invariant 4), the scorer's half of it: what the
// agent did to test files is undone, its own tests are left out, the hidden
// tests lie over everything, and the task's snapshot is not touched.
func TestTheAgentNeverSeesTheTests(t *testing.T) {
	task := aTask("wrong\n")
	task.Files = append(task.Files, schemas.File{Path: "testdata/in.txt", Content: "in\n"})
	task.HiddenTests = append(task.HiddenTests, schemas.File{Path: "golden.txt", Content: "hidden golden\n"})
	before := cmp.Diff(nil, task)
	patch := patchA("wrong", "right") +
		"diff --git a/a_test.go b/a_test.go\n--- a/a_test.go\n+++ b/a_test.go\n@@ -1 +1 @@\n-visible\n+weakened\n" +
		"diff --git a/testdata/in.txt b/testdata/in.txt\ndeleted file mode 100644\n--- a/testdata/in.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-in\n" +
		newFile("hidden_test.go", "guessed") + newFile("main_test.go", "takes over") +
		newFile("sub/testdata/x", "planted") + newFile("golden.txt", "planted") + newFile("notes.txt", "mine")
	got, err := Workspace(task, patch)
	if err != nil {
		t.Fatal(err)
	}
	want := []schemas.File{
		{Path: "a.go", Content: "right\n"},
		{Path: "a_test.go", Content: "visible\n"},
		{Path: "go.mod", Content: "module m\n"},
		{Path: "golden.txt", Content: "hidden golden\n"},
		{Path: "hidden_test.go", Content: "hidden\n"},
		{Path: "notes.txt", Content: "mine\n"},
		{Path: "testdata/in.txt", Content: "in\n"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if cmp.Diff(nil, task) != before {
		t.Error("the task changed")
	}
}

func newFile(path, line string) string {
	return "diff --git a/" + path + " b/" + path + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + path + "\n@@ -0,0 +1 @@\n+" + line + "\n"
}
