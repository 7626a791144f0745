package mine

import (
	"fmt"
	"regexp"
	"strings"
)

// panicLine is how the runtime begins its report of a panic.
var panicLine = regexp.MustCompile(`(?m)^panic: (.+)$`)

// failureLine is a message of the visible test; the position in front of it is
// cut off.
var failureLine = regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(VisibleTest) + `:\d+: (.+)$`)

// statement returns the issue text: one line, in the words of whoever saw the
// build fail. It tells what the visible test printed; when that test passes, it
// tells in general words that something is wrong. It never names a line, the
// fix or a hidden test.
func statement(p Program, visible testRun, fails bool) string {
	if !fails {
		return fmt.Sprintf("%s gives a wrong result for some inputs.", p.Function)
	}
	if m := failureLine.FindStringSubmatch(visible.Text); m != nil {
		return fmt.Sprintf("%s is broken: %s.", p.Function, m[1])
	}
	if m := panicLine.FindStringSubmatch(visible.Text); m != nil {
		reason, _, _ := strings.Cut(m[1], " [recovered")
		return fmt.Sprintf("%s is broken: it panics with %q.", p.Function, strings.TrimPrefix(reason, "runtime error: "))
	}
	return fmt.Sprintf("%s is broken.", p.Function)
}
