package testlog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"millrace/schemas"
)

// Grade is what a rule makes of a task's test results. Both lists are sorted and
// without repeats, and no name is in both.
type Grade struct {
	// Value is 1 or 0.
	Value float64
	// Passed are the expected tests that came to what the rule wants of them.
	Passed []string
	// Failed are those that did not, and, under a rule that compares with all that
	// ran, tests that passed or ran though nothing of the kind was expected.
	Failed []string
	// Void is why the results counted for nothing and all tests failed; else empty.
	Void string
}

// rule is one way to judge results.
type rule struct {
	// expected are the names that the rule asks for.
	expected func(schemas.Task) []string
	// judge sorts the expected names, and names beyond them, into two lists. It is
	// asked only of results that are not void.
	judge func(*Grade, schemas.Task, Results)
	// void says why results count for nothing; nil for a rule that takes what it sees.
	void func(Results) string
	// drops is true where an expected test can be in neither list.
	drops bool
	// exact is true where Failed can hold names that were not expected.
	exact bool
}

// rules are the rules of schemas.Task.Rule, each explained at its functions.
var rules = map[string]rule{
	"":             {expected: failAndPass, judge: allPass},
	"swe-bench":    {expected: failAndPass, judge: sweBench, void: unfinished, drops: true},
	"swe-bench-v5": {expected: failAndPass, judge: sweBenchV5, void: implausible},
	"swe-smith":    {expected: failAndPass, judge: sweBench, void: unfinished, drops: true},
	"fail-only":    {expected: failAndPass, judge: failOnly, void: unseen},
	"swe-rebench":  {expected: failAndPass, judge: sweRebench, void: unfinished, exact: true},
	"r2e":          {expected: expectations, judge: r2eRule, void: unfinished, exact: true},
}

// Rules returns the names that [Judge] knows, sorted; the first is empty.
func Rules() []string { return slices.Sorted(maps.Keys(rules)) }

// CheckRule returns an error that lists the known rules unless name is one.
func CheckRule(name string) error {
	if _, ok := rules[name]; ok {
		return nil
	}
	return fmt.Errorf("unknown rule %q, want one of %s, or none", name, strings.Join(Rules()[1:], ", "))
}

// Judge grades the results of a task's tests by the task's rule. Whatever the rule,
// the value is 1 only when no test failed and at least one passed. The error is that
// of [CheckRule].
func Judge(task schemas.Task, r Results) (Grade, error) {
	rule, ok := rules[task.Rule]
	if !ok {
		return Grade{}, CheckRule(task.Rule)
	}
	var g Grade
	if rule.void != nil {
		g.Void = rule.void(r)
	}
	if g.Void != "" {
		g.Failed = rule.expected(task)
	} else {
		rule.judge(&g, task, r)
	}
	return g.close(), nil
}

// Again grades from the lists of an earlier grade of the task, or of a task with
// other expectations: what was not recorded as passed has failed. Under a rule that
// drops skipped tests from both lists, a test in neither was skipped. The error is
// that of [CheckRule].
func Again(task schemas.Task, passed, failed []string) (Grade, error) {
	rule, ok := rules[task.Rule]
	if !ok {
		return Grade{}, CheckRule(task.Rule)
	}
	var g Grade
	hadPassed, hadFailed := set(passed), set(failed)
	expected := rule.expected(task)
	for _, name := range expected {
		if hadFailed[name] || hadPassed[name] || !rule.drops {
			g.put(hadPassed[name] && !hadFailed[name], name)
		}
	}
	if rule.exact {
		isExpected := set(expected)
		for _, name := range failed {
			if !isExpected[name] {
				g.put(false, name)
			}
		}
	}
	return g.close(), nil
}

// put adds a name to one of the lists.
func (g *Grade) put(passed bool, name string) {
	if passed {
		g.Passed = append(g.Passed, name)
	} else {
		g.Failed = append(g.Failed, name)
	}
}

// close sorts the lists and decides the value. A name that was put in both, as one
// with two expectations can be, has failed.
func (g Grade) close() Grade {
	slices.Sort(g.Passed)
	slices.Sort(g.Failed)
	g.Passed, g.Failed = slices.Compact(g.Passed), slices.Compact(g.Failed)
	g.Passed = slices.DeleteFunc(g.Passed, func(name string) bool {
		_, both := slices.BinarySearch(g.Failed, name)
		return both
	})
	if len(g.Failed) == 0 && len(g.Passed) > 0 {
		g.Value = 1
	}
	return g
}

func set(names []string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

// failAndPass returns the fail-to-pass and pass-to-pass tests, sorted.
func failAndPass(t schemas.Task) []string {
	names := slices.Concat(t.FailToPass, t.PassToPass)
	slices.Sort(names)
	return slices.Compact(names)
}

// unfinished says why a log counts for nothing: the tests did not run, or not to
// their end.
func unfinished(r Results) string {
	if r.TimedOut {
		return "the tests ran into their time limit"
	}
	return r.Void
}
