package schemas

import (
	"fmt"
	"io/fs"
)

// File is one file of a snapshot: a slash-separated path relative to the
// workspace root, and its whole content.
type File struct {
	Path    string
	Content string
}

// Task is a problem: a statement, a repository snapshot, hidden tests and the
// results expected of them.
//
// A task in a task set has Iteration 0 and Rollouts 0. On the tasks topic the
// same record is a work order: "run Rollouts rollouts of this task for training
// iteration Iteration".
type Task struct {
	// ID names the task for ever: "<repo>/<kind>/<content hash>".
	ID string
	// Repo names the code base, for decontamination and for splits by function.
	Repo string
	// Split is the set the task belongs to: "train", "heldout-fault",
	// "heldout-function", or a name of the user's.
	Split string
	// Statement is the issue text shown to the agent.
	Statement string
	// Image is the container image that holds the snapshot; empty when Files is
	// the snapshot.
	Image string
	// Files is the snapshot the agent works on. It never holds a hidden test.
	Files []File
	// HiddenTests are written over the workspace in the scoring sandbox only
	// (invariant 4: the agent never sees the tests).
	HiddenTests []File
	// TestCommand is run by the scorer in the workspace root, by sh -c.
	TestCommand string
	// TestFormat names the parser of TestCommand's output ("go-test-json").
	TestFormat string
	// FailToPass lists the tests that fail before the gold patch and pass after.
	FailToPass []string
	// PassToPass lists the tests that pass before and after.
	PassToPass []string
	// GoldPatch is a unified diff that solves the task; never shown to the agent.
	GoldPatch string
	// Iteration is the training iteration that ordered these rollouts (>= 0).
	Iteration int64
	// Rollouts is the group size ordered, 0 in a task set.
	Rollouts int32
}

// Tasks is the codec of Task.
var Tasks = newCodec("task", taskColumns)

var fileColumns = []column[File]{
	text("path", func(f *File) *string { return &f.Path }),
	blob("content", func(f *File) *string { return &f.Content }),
}

var taskColumns = []column[Task]{
	text("id", func(t *Task) *string { return &t.ID }),
	text("repo", func(t *Task) *string { return &t.Repo }),
	text("split", func(t *Task) *string { return &t.Split }),
	text("statement", func(t *Task) *string { return &t.Statement }),
	text("image", func(t *Task) *string { return &t.Image }),
	structs("files", func(t *Task) *[]File { return &t.Files }, fileColumns),
	structs("hidden_tests", func(t *Task) *[]File { return &t.HiddenTests }, fileColumns),
	text("test_command", func(t *Task) *string { return &t.TestCommand }),
	text("test_format", func(t *Task) *string { return &t.TestFormat }),
	texts("fail_to_pass", func(t *Task) *[]string { return &t.FailToPass }),
	texts("pass_to_pass", func(t *Task) *[]string { return &t.PassToPass }),
	blob("gold_patch", func(t *Task) *string { return &t.GoldPatch }),
	i64("iteration", func(t *Task) *int64 { return &t.Iteration }),
	i32("rollouts", func(t *Task) *int32 { return &t.Rollouts }),
}

// Validate checks the contract: an id, counts of at least 0, and file paths that
// are distinct, relative, slash-separated and stay below the workspace root.
func (t Task) Validate() error {
	c := &contract{schema: "task", id: t.ID}
	t.check(c, "")
	return c.err()
}

// check is Validate for a task inside another record, whose fields are named
// with the prefix.
func (t *Task) check(c *contract, prefix string) {
	c.name(prefix+"ID", t.ID)
	c.notNegative(prefix+"Iteration", t.Iteration)
	c.notNegative(prefix+"Rollouts", int64(t.Rollouts))
	checkFiles(c, prefix+"Files", t.Files)
	checkFiles(c, prefix+"HiddenTests", t.HiddenTests)
}

func checkFiles(c *contract, field string, files []File) {
	seen := make(map[string]struct{}, len(files))
	for i, f := range files {
		if !fs.ValidPath(f.Path) || f.Path == "." {
			c.fail(Invalid, fmt.Sprintf("%s[%d].Path", field, i), "is %q, not a path below the workspace root", f.Path)
			return
		}
		if _, twice := seen[f.Path]; twice {
			c.fail(Invalid, fmt.Sprintf("%s[%d].Path", field, i), "is %q, which an earlier file has", f.Path)
			return
		}
		seen[f.Path] = struct{}{}
	}
}
