package score

import (
	"slices"

	"millrace/schemas"
)

// Grade returns the reward of a task for the verdicts of a test run: 1 when
// every fail-to-pass and every pass-to-pass test passed, else 0 (DeepSWE's
// reward; SWE-bench's FULL). Both lists are returned sorted, without repeats.
// A test that the run does not name, or that was skipped, has not passed.
//
// An expected name is either a test's bare name ("TestClampEdge",
// "TestClamp/low") or qualified by its package and a dot
// ("corpus/clamp.TestClampEdge"). A bare name that occurs in several packages
// has passed when it passed in each of them, so a name collision cannot hide a
// failure.
func Grade(task schemas.Task, r Results) (value float64, passed, failed []string) {
	expected := slices.Concat(task.FailToPass, task.PassToPass)
	slices.Sort(expected)
	for _, name := range slices.Compact(expected) {
		if r.passed(name) {
			passed = append(passed, name)
		} else {
			failed = append(failed, name)
		}
	}
	if len(failed) == 0 && len(passed) > 0 {
		value = 1
	}
	return value, passed, failed
}

// passed reports whether at least one verdict goes by the name and all that do
// are Pass.
func (r Results) passed(name string) bool {
	found := false
	for _, v := range r.Verdicts {
		if name != v.Test && name != v.Package+"."+v.Test {
			continue
		}
		if v.Status != Pass {
			return false
		}
		found = true
	}
	return found
}
