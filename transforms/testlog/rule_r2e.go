package testlog

import (
	"strings"

	"millrace/schemas"
)

// expectations returns the names of Task.Expected, as the r2e rule compares them.
func expectations(t schemas.Task) []string {
	names := make([]string, len(t.Expected))
	for i, e := range t.Expected {
		names[i] = r2eName(e.Test)
	}
	return names
}

// r2eName takes colours and a reason off a name; expectations were recorded with
// both.
func r2eName(name string) string {
	name, _, _ = strings.Cut(plain(name), " - ")
	return name
}

// r2eRule is the rule of R2E-Gym (runtime/docker.py): as many tests ran as are in
// Task.Expected, and each has the status expected of it, so that a test which failed
// when the row was made must still fail. A run that times out has no summary and is
// worth 0. Only PASSED, FAILED and ERROR count as having run. The empty name, of
// lines without a test, counts as one and is not compared.
//
// FailToPass and PassToPass are not looked at: R2E-Gym has no such lists.
func r2eRule(g *Grade, t schemas.Task, r Results) {
	statuses := map[string]Status{}
	for _, v := range r.Verdicts {
		if v.Status == Passed || v.Status.bad() {
			statuses[v.Test] = together(statuses[v.Test], v.Status)
		}
	}
	expected := map[string]bool{}
	for _, e := range t.Expected {
		name := r2eName(e.Test)
		expected[name] = true
		s, seen := statuses[name]
		g.put(seen && (name == "" || s == Status(e.Status)), name)
	}
	for name := range statuses {
		if !expected[name] {
			g.put(false, name)
		}
	}
}
