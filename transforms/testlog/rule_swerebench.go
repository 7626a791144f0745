package testlog

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"millrace/schemas"
)

// times are durations that runners print within a test's name, in the order in which
// SWE-rebench V2 takes them off (scripts/eval.py).
var times = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\s*\[\s*\d+(?:\.\d+)?\s*(?:ms|s)\s*\]\s*$`),
	regexp.MustCompile(`(?i)\s+in\s+\d+(?:\.\d+)?\s+(?:msec|sec)\b`),
	regexp.MustCompile(`(?i)\s*\(\s*\d+(?:\.\d+)?\s*(?:ms|s)\s*\)\s*$`),
}

// timeless returns a test's name without durations.
func timeless(name string) string {
	if strings.ContainsAny(name, "0123456789") {
		for _, t := range times {
			name = t.ReplaceAllLiteralString(name, "")
		}
	}
	return strip(name)
}

// sweRebench is the rule of SWE-rebench V2 (passed_match): the tests that passed are
// exactly the fail-to-pass and pass-to-pass tests, compared by the dataset's own
// names without durations. So a test that passes unexpectedly speaks against the
// patch, and is listed under Failed; tests that fail are not looked at.
//
// Difference: the original compares sorted lists, so that a row with a name in both
// lists can never match; here it can.
func sweRebench(g *Grade, t schemas.Task, r Results) {
	statuses := map[string]Status{}
	for _, v := range r.Verdicts {
		name := timeless(v.Test)
		statuses[name] = together(statuses[name], v.Status)
	}
	expected := map[string]bool{}
	for _, name := range failAndPass(t) {
		bare := timeless(name)
		expected[bare] = true
		g.put(statuses[bare] == Passed, name)
	}
	for _, name := range slices.Sorted(maps.Keys(statuses)) {
		if statuses[name] == Passed && !expected[name] {
			g.put(false, name)
		}
	}
}
