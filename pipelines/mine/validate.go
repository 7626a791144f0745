package mine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"millrace/schemas"
	"millrace/transforms/testlog"
)

// Outcome says what validation made of a candidate.
type Outcome string

// The outcomes. Only Valid makes a task.
const (
	Valid Outcome = "valid"
	// Unbounded: a test ran into the time or memory limit. Such a task would
	// cost each rollout that limit, and time limits are no reproducible verdict.
	Unbounded Outcome = "unbounded"
	// NoFailToPass: no test notices the fault.
	NoFailToPass Outcome = "no fail-to-pass"
	// NoPassToPass: no test passes with the fault in place.
	NoPassToPass Outcome = "no pass-to-pass"
)

// Validated is a candidate after its tests ran.
type Validated struct {
	Candidate
	Outcome Outcome
	// VisibleFails reports whether the visible test, run alone as the agent runs
	// it, fails.
	VisibleFails bool
}

// Validate runs all tests of a candidate for real and completes its task:
// statement and expected results. A test that does not run because an earlier
// one panicked has not passed, so it is a fail-to-pass test.
//
// Limit is the time limit of one test run; it has to be far above what the
// working program needs. The error is about the machine, never the candidate.
func Validate(ctx context.Context, c Candidate, limit time.Duration) (Validated, error) {
	tests, err := c.Program.tests()
	if err != nil {
		return Validated{Candidate: c}, err
	}
	all, err := goTest(ctx, withHidden(c.Task), limit)
	if err != nil {
		return Validated{Candidate: c}, fmt.Errorf("validating %s: %w", c.Task.ID, err)
	}
	visible := all
	if cutShort(all, tests) && !unbounded(all) {
		if visible, err = goTest(ctx, c.Task.Files, limit); err != nil {
			return Validated{Candidate: c}, fmt.Errorf("validating %s: %w", c.Task.ID, err)
		}
	}
	return judge(c, tests, all, visible), nil
}

// judge decides on a candidate by its runs: that of all tests, and one that
// shows how the visible test ends.
func judge(c Candidate, tests []string, all, visible testRun) Validated {
	v := Validated{Candidate: c}
	if unbounded(all) || unbounded(visible) {
		v.Outcome = Unbounded
		return v
	}
	for _, name := range tests {
		if passed(all, name) {
			v.Task.PassToPass = append(v.Task.PassToPass, name)
		} else {
			v.Task.FailToPass = append(v.Task.FailToPass, name)
		}
	}
	v.VisibleFails = !passed(visible, "Test"+c.Program.Function)
	v.Task.Statement = statement(c.Program, visible, v.VisibleFails)
	switch {
	case len(v.Task.FailToPass) == 0:
		v.Outcome = NoFailToPass
	case len(v.Task.PassToPass) == 0:
		v.Outcome = NoPassToPass
	default:
		v.Outcome = Valid
	}
	return v
}

// CheckProgram runs the tests of a program without any fault; all have to pass.
func CheckProgram(ctx context.Context, p Program, limit time.Duration) error {
	files := append(p.workspace(p.Source), schemas.File{Path: HiddenTest, Content: p.Hidden})
	r, err := goTest(ctx, files, limit)
	if err != nil {
		return fmt.Errorf("checking program %s: %w", p.Name, err)
	}
	tests, err := p.tests()
	if err != nil {
		return err
	}
	for _, name := range tests {
		if !passed(r, name) {
			return fmt.Errorf("checking program %s: %s does not pass without a fault: %s", p.Name, name, r.Text)
		}
	}
	return nil
}

func withHidden(t schemas.Task) []schemas.File {
	return append(append([]schemas.File(nil), t.Files...), t.HiddenTests...)
}

func passed(r testRun, test string) bool {
	for _, v := range r.Verdicts {
		if v.Test == test {
			return v.Status == testlog.Passed
		}
	}
	return false
}

// cutShort reports whether a panic ended the run, perhaps before the visible
// test or its message.
func cutShort(r testRun, tests []string) bool {
	return len(r.Verdicts) < len(tests) || strings.Contains(r.Output, "panic: ")
}

// unbounded recognises the words of package testing at its time limit and of
// the runtime at its memory limit.
func unbounded(r testRun) bool {
	return strings.Contains(r.Output, "panic: test timed out after") ||
		strings.Contains(r.Output, "out of memory") ||
		strings.Contains(r.Output, "cannot allocate memory")
}
