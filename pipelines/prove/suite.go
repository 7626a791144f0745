package prove

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"millrace/pipelines/gomodule"
	"millrace/transforms/sandbox"
	"millrace/transforms/testlog"
)

// buildAllowance is what the build of a module's tests may take in a sandbox, on top
// of the tests' own limits: minutes with dependencies, and a multiple of that on a
// busy machine.
const buildAllowance = 5 * time.Minute

// Suite runs tests of a module in sandboxes.
type Suite struct {
	Sandboxes sandbox.Provider
	// Limit is the time limit of the tests of one package (> 0).
	Limit time.Duration
}

// Selection is which tests run.
type Selection struct {
	// Dirs are the directories of packages.
	Dirs []string
	// Functions are the test functions; empty means all.
	Functions []string
}

// Outcome is what the tests of a selection came to.
type Outcome struct {
	// Status is by package-qualified name: import path, dot, test.
	Status map[string]testlog.Status
	// FailedBuilds are import paths.
	FailedBuilds []string
	// Unbounded is true when a limit of time or memory ended a test.
	Unbounded bool
	// Output is what "go test -json" printed; Truncated, that its middle is missing.
	Output    string
	Truncated bool
}

// Command is the test command of a selection, which a shell takes. The count keeps
// the go command from answering out of its cache, which an agent could have written
// to; the limit ends a patch that loops.
func (s Suite) Command(m gomodule.Module, sel Selection) string {
	words := []string{"go test -json -count=1 -timeout", s.Limit.String()}
	if m.Vendored {
		words = append(words, "-mod=vendor")
	}
	if len(sel.Functions) > 0 {
		words = append(words, "-run '^("+strings.Join(sel.Functions, "|")+")$'")
	}
	for _, dir := range sel.Dirs {
		if dir != "." {
			dir = "./" + path.Clean(dir)
		}
		words = append(words, dir)
	}
	return strings.Join(words, " ")
}

// errNoTest is the failure of a run without a verdict.
var errNoTest = errors.New("no test ran")

// Run runs the selection in a fresh sandbox. The label names it in errors, which are
// about the machine: tests that fail, loop or do not build are an Outcome.
func (s Suite) Run(ctx context.Context, label string, m gomodule.Module, sel Selection) (Outcome, error) {
	fail := func(err error) (Outcome, error) {
		return Outcome{}, fmt.Errorf("running the tests of %s: %w", label, err)
	}
	box, err := s.Sandboxes.Open(ctx, label, sandbox.Spec{Files: m.Files})
	if err != nil {
		return fail(err)
	}
	result, err := box.Exec(ctx, s.Command(m, sel), buildAllowance+s.Limit*time.Duration(len(sel.Dirs)))
	if err = errors.Join(err, box.Close()); err != nil {
		return fail(err)
	}
	results, err := testlog.Parse(testlog.GoTestJSON, result.Output, testlog.Options{})
	if err != nil {
		return fail(err)
	}
	o := Outcome{
		Status: map[string]testlog.Status{}, FailedBuilds: results.FailedBuilds, Output: result.Output, Truncated: result.Truncated,
		Unbounded: result.TimedOut || unbounded(result.Output),
	}
	for _, v := range results.Verdicts {
		if v.Name == "" {
			v.Name = v.Test
		}
		o.Status[v.Name] = v.Status
	}
	switch {
	case o.Unbounded:
	case results.Trouble != "":
		return fail(errors.New(results.Trouble))
	case len(o.Status) == 0 && len(o.FailedBuilds) == 0 && !strings.Contains(result.Output, `"Action":"fail"`):
		return fail(fmt.Errorf("%w: %s", errNoTest, strings.TrimSpace(results.Text)))
	}
	return o, nil
}

// unbounded recognises the words of package testing at its time limit and of the
// runtime at its memory limit.
func unbounded(output string) bool {
	return strings.Contains(output, "panic: test timed out after") ||
		strings.Contains(output, "out of memory") ||
		strings.Contains(output, "cannot allocate memory") ||
		strings.Contains(output, "goroutine stack exceeds")
}
