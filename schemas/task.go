package schemas

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
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

	// The fields from here on are of version 2, and for tasks with an Image.

	// BaseCommit is the commit that the snapshot is of, where there is one.
	BaseCommit string
	// Workdir is the repository's directory in the image, absolute; empty means
	// "/testbed".
	Workdir string
	// Setup is run in Workdir by sh -c, once in a fresh container of the image,
	// and what it leaves is what agent and scorer begin with.
	Setup string
	// Withheld are absolute paths in the image that only the scorer may see: tests,
	// and scripts that name them (invariant 4).
	Withheld []string
	// Env are variables of every command, "KEY=value".
	Env []string
	// Network is true when setup and tests need one. The agent never has it.
	Network bool
	// TestPatch is a unified diff that puts the hidden tests in place; it is
	// applied in the scoring sandbox only.
	TestPatch string
	// TestFiles are paths relative to Workdir that are restored to the snapshot
	// before the tests run, whatever the agent did to them.
	TestFiles []string
	// Rule names how verdicts become a reward; empty means that all of FailToPass
	// and PassToPass must pass.
	Rule string
	// Expected are the statuses that a rule compares with, where tests that fail
	// are among what is expected.
	Expected []Expectation
	// TestSeconds is the time limit of the tests; 0 leaves it to the scorer.
	TestSeconds int32

	// The fields from here on are of version 3, and for tasks of a text environment:
	// one that is played without a sandbox. FailToPass then names its goals.

	// Environment names the text environment; empty for a task in a sandbox.
	Environment string
	// Parameters are what the environment makes the episode of, one JSON object.
	Parameters string
}

// Expectation is the status that a test is expected to have: "PASSED", "FAILED",
// "ERROR".
type Expectation struct{ Test, Status string }

// Tasks is the codec of Task.
var Tasks = newCodec("task", taskColumns, taskColumnsV2, taskColumnsV3)

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

var expectationColumns = []column[Expectation]{
	text("test", func(e *Expectation) *string { return &e.Test }),
	text("status", func(e *Expectation) *string { return &e.Status }),
}

// Version 2 knows container images.
var taskColumnsV2 = slices.Concat(taskColumns, []column[Task]{
	text("base_commit", func(t *Task) *string { return &t.BaseCommit }),
	text("workdir", func(t *Task) *string { return &t.Workdir }),
	text("setup", func(t *Task) *string { return &t.Setup }),
	texts("withheld", func(t *Task) *[]string { return &t.Withheld }),
	texts("env", func(t *Task) *[]string { return &t.Env }),
	boolean("network", func(t *Task) *bool { return &t.Network }),
	blob("test_patch", func(t *Task) *string { return &t.TestPatch }),
	texts("test_files", func(t *Task) *[]string { return &t.TestFiles }),
	text("rule", func(t *Task) *string { return &t.Rule }),
	structs("expected", func(t *Task) *[]Expectation { return &t.Expected }, expectationColumns),
	i32("test_seconds", func(t *Task) *int32 { return &t.TestSeconds }),
})

// Version 3 knows text environments.
var taskColumnsV3 = slices.Concat(taskColumnsV2, []column[Task]{
	text("environment", func(t *Task) *string { return &t.Environment }),
	text("parameters", func(t *Task) *string { return &t.Parameters }),
})

// Validate checks the contract: an id, counts of at least 0, file paths that
// are distinct, relative, slash-separated and stay below the workspace root, and
// paths in the image that are absolute. A task of a text environment has parameters
// that are a JSON object, and neither files nor an image; any other has none.
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
	c.notNegative(prefix+"TestSeconds", int64(t.TestSeconds))
	if t.Workdir != "" {
		checkAbsolute(c, prefix+"Workdir", t.Workdir)
	}
	for i, p := range t.Withheld {
		checkAbsolute(c, fmt.Sprintf("%sWithheld[%d]", prefix, i), p)
	}
	for i, p := range t.TestFiles {
		if !fs.ValidPath(p) || p == "." {
			c.fail(Invalid, fmt.Sprintf("%sTestFiles[%d]", prefix, i), "is %q, not a path below the workspace root", p)
		}
	}
	for i, kv := range t.Env {
		if key, _, ok := strings.Cut(kv, "="); !ok || key == "" {
			c.fail(Invalid, fmt.Sprintf("%sEnv[%d]", prefix, i), "is %q, want KEY=value", kv)
		}
	}
	t.checkEnvironment(c, prefix)
}

func (t *Task) checkEnvironment(c *contract, prefix string) {
	c.utf8(prefix+"Environment", t.Environment)
	c.utf8(prefix+"Parameters", t.Parameters)
	switch {
	case t.Environment == "" && t.Parameters != "":
		c.fail(Invalid, prefix+"Parameters", "are set without an environment")
	case t.Environment == "":
	case !strings.HasPrefix(t.Parameters, "{") || !json.Valid([]byte(t.Parameters)):
		c.fail(Invalid, prefix+"Parameters", "are %.80q, not a JSON object", t.Parameters)
	case t.Image != "" || len(t.Files) > 0:
		c.fail(Invalid, prefix+"Environment", "is %q, but the task has a snapshot too", t.Environment)
	}
}

// checkAbsolute accepts a clean absolute path that is not the root.
func checkAbsolute(c *contract, field, p string) {
	if !path.IsAbs(p) || path.Clean(p) != p || p == "/" {
		c.fail(Invalid, field, "is %q, not a clean absolute path below the root", p)
	}
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
