package testlog

import (
	"strings"

	"millrace/schemas"
)

// sweBench is the rule of SWE-bench v4 (harness/grading.py, RESOLVED_FULL) and of
// SWE-smith, which calls it: a test has passed with PASSED or XFAIL, has failed with
// FAILED or ERROR or when the log lacks it, and drops out of both lists with SKIPPED.
// One of the four bad codes, a time limit or a missing end marker fail all.
//
// Differences: v4 resolves a task all of whose tests were skipped, and one that
// expects nothing; here one test must have passed. SWE-smith of June 2025 took a test
// that the log lacks for passed, which rewards a run that crashed; no rule here does.
func sweBench(g *Grade, t schemas.Task, r Results) {
	statuses := r.statuses()
	for _, name := range failAndPass(t) {
		if s := statuses[name]; s != Skipped {
			g.put(s.good(), name)
		}
	}
}

// sweBenchV5 is the rule of SWE-bench v5. It differs from v4's in three things: a
// fail-to-pass test that is skipped has failed and a pass-to-pass test that is
// skipped is maintained; a name of SWE-bench Verified that was cut within its
// parameter ("[" more often than "]") stands for the tests that begin so, when they
// agree; and results that cannot be true count for nothing (see implausible).
func sweBenchV5(g *Grade, t schemas.Task, r Results) {
	statuses := r.statuses()
	maintained := make(map[string]bool, len(t.PassToPass))
	for _, name := range t.PassToPass {
		maintained[name] = true
	}
	for _, name := range t.FailToPass {
		maintained[name] = false // a test in both lists has to pass
	}
	for _, name := range failAndPass(t) {
		s, seen := statuses[name]
		if !seen {
			s = beginning(name, r.Verdicts)
		}
		g.put(s.good() || s == Skipped && maintained[name], name)
	}
}

// beginning returns the status of the tests whose names begin with one that is cut
// within its parameter, when all of them pass or none does.
func beginning(name string, verdicts []Verdict) (s Status) {
	if strings.Count(name, "[") <= strings.Count(name, "]") {
		return ""
	}
	for _, v := range verdicts {
		if !strings.HasPrefix(v.Test, name) && !strings.HasPrefix(v.Name, name) {
			continue
		}
		if s != "" && s.good() != v.Status.good() {
			return ""
		}
		s = v.Status
	}
	return s
}

// implausible is what v5 does not believe: no verdict and no sign that a suite ran,
// or a test command that failed though no test did.
func implausible(r Results) string {
	if why := unfinished(r); why != "" {
		return why
	}
	if !r.Ran {
		return "no test ran"
	}
	if r.Exit == nil || *r.Exit == 0 || len(r.Verdicts) == 0 {
		return ""
	}
	for _, v := range r.Verdicts {
		if v.Status.bad() {
			return ""
		}
	}
	return "the test command failed and no test did"
}

// failOnly is SWE-bench's rule for runners that print failures only (Chart.js,
// marked, p5.js): a test has failed when the log says FAILED of it, else passed.
//
// Difference from v4: as in v5, a log without any sign that a suite ran is worth
// nothing. A log whose middle was dropped is not either, for it may hide failures.
func failOnly(g *Grade, t schemas.Task, r Results) {
	statuses := r.statuses()
	for _, name := range failAndPass(t) {
		g.put(statuses[name] != Failed, name)
	}
}

func unseen(r Results) string {
	if r.Truncated {
		return "a part of the log was dropped"
	}
	return implausible(r)
}
