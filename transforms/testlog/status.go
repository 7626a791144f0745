package testlog

import "slices"

// Status is what a test came to, in SWE-bench's words.
type Status string

// The statuses. A test that started and never ended is Failed.
const (
	Passed Status = "PASSED"
	// XFail is a test that was expected to fail and did.
	XFail   Status = "XFAIL"
	Skipped Status = "SKIPPED"
	// Error is a test whose set-up, tear-down or collection failed.
	Error  Status = "ERROR"
	Failed Status = "FAILED"
)

// severity orders the statuses from the best to the worst. Failed is the worst since
// pytest's summary prints failures last, so that the last line and the worst agree.
var severity = []Status{Passed, XFail, Skipped, Error, Failed}

// worse returns the worse of two statuses; the empty one is better than all.
func worse(a, b Status) Status {
	if slices.Index(severity, b) > slices.Index(severity, a) {
		return b
	}
	return a
}

// together returns the status of a name that two tests share: the worse, but a test
// that was skipped says nothing of the other. Django's caches have a test of one name
// for each backend, and those that the machine lacks are skipped.
func together(a, b Status) Status {
	switch {
	case a == Skipped && b != "":
		return b
	case b == Skipped && a != "":
		return a
	}
	return worse(a, b)
}

// good reports whether SWE-bench counts the status as passed.
func (s Status) good() bool { return s == Passed || s == XFail }

// bad reports whether SWE-bench counts the status as failed; Skipped is neither.
func (s Status) bad() bool { return s == Failed || s == Error }

// Verdict is the status of one test or subtest.
type Verdict struct {
	// Test is the dataset's own name of the test.
	Test string `json:"t"`
	// Name is Test with what tells it from others of that name: the package of a
	// Go test, the file, the suites around it. Empty when Test says all.
	Name   string `json:"n,omitempty"`
	Status Status `json:"s"`
}

// Results is what a test command's output says.
type Results struct {
	// Verdicts are sorted by Test and Name; a pair occurs once.
	Verdicts []Verdict `json:"v,omitempty"`
	// FailedBuilds are the Go packages that did not compile, sorted.
	FailedBuilds []string `json:"b,omitempty"`
	// Text is the tail of the tests' output as a person would have seen it, at most
	// tailBytes bytes of valid UTF-8.
	Text string `json:"o,omitempty"`
	// Void is why nothing in the log counts: one of the bad codes of SWE-bench, or
	// tests that began and did not end.
	Void string `json:"void,omitempty"`
	// Ran is true when a test runner is seen to have run at least one test.
	Ran bool `json:"ran,omitempty"`
	// Exit is the test command's own exit status where the log records it, as
	// SWE-bench v5's scripts do; nil elsewhere.
	Exit *int `json:"exit,omitempty"`
	// TimedOut is true when the command was ended by its time limit, and Truncated
	// when the middle of its output was dropped. Whoever ran it knows; [Parse] sets
	// neither.
	TimedOut  bool `json:"timed_out,omitempty"`
	Truncated bool `json:"truncated,omitempty"`
	// Trouble is set when the go command itself, not a test, reported that the
	// host lacks something (see [hostTrouble]).
	Trouble string `json:"-"`
}

// Statuses returns the status of every test by the dataset's own name (see together).
func (r Results) Statuses() map[string]Status {
	m := make(map[string]Status, len(r.Verdicts))
	for _, v := range r.Verdicts {
		m[v.Test] = together(m[v.Test], v.Status)
	}
	return m
}

// statuses returns the status of every name that a verdict goes by.
func (r Results) statuses() map[string]Status {
	m := r.Statuses()
	for _, v := range r.Verdicts {
		if v.Name != "" && v.Name != v.Test {
			m[v.Name] = together(m[v.Name], v.Status)
		}
	}
	return m
}
