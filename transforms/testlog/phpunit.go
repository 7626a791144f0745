package testlog

import (
	"regexp"
	"strings"
)

var (
	phpSuite = regexp.MustCompile(`^(\w.+) \(.+\)$`)
	phpTime  = regexp.MustCompile(`(?i)\s*\[\s*\d+(?:\.\d+)?\s*m?s\s*\]\s*$`)
)

var phpMarks = []struct {
	mark string
	s    Status
}{{"✔", Passed}, {"✘", Failed}, {"↩", Skipped}}

// phpunit reads PHPUnit's --testdox: a line "Suite (Namespace\Suite)", then "✔ Name"
// lines. The dataset's name is "Suite > Name"; a time behind it falls away, as in
// SWE-rebench. Name has the namespace, which tells suites of one name apart.
func phpunit(t *tally, log string) {
	suite, full := "None", ""
	for line := range lines(log) {
		rest := strings.TrimLeftFunc(line, space)
		known := false
		for _, m := range phpMarks {
			if test, ok := strings.CutPrefix(rest, m.mark); ok {
				test = strip(phpTime.ReplaceAllLiteralString(test, ""))
				t.add(suite+separator+test, full+separator+test, m.s)
				known = true
			}
		}
		if known || !strings.HasSuffix(line, ")") || len(line) > maxName/2 {
			continue
		}
		if m := phpSuite.FindStringSubmatch(line); m != nil {
			suite, full = m[1], line
		}
	}
}
