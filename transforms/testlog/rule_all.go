package testlog

import "millrace/schemas"

// allPass is the rule without a name: every fail-to-pass and every pass-to-pass test
// must pass. A test that the run does not name, or that was skipped or failed as
// expected (XFAIL), has not passed.
//
// It is stricter than SWE-bench's rules, and takes results as they are: a run that
// was ended by its time limit is worth what it had shown, since a test that was
// running has failed.
func allPass(g *Grade, t schemas.Task, r Results) {
	statuses := r.statuses()
	for _, name := range failAndPass(t) {
		g.put(statuses[name] == Passed, name)
	}
}
