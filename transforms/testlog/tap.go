package testlog

import (
	"regexp"
	"strings"
)

// tapTest is a result of the Test Anything Protocol: "not ok 3 - name".
var tapTest = regexp.MustCompile(`^(ok|not ok) \d+ (.+)$`)

// tap reads TAP, subtests too. The dataset's name is all that follows the number;
// Name has the subtests around it, which "# Subtest: name" opens, indented alike
// (TAP 14).
func tap(t *tally, log string) {
	var subtests nesting
	for line := range lines(log) {
		text := strip(line)
		indent := indentation(line)
		if name, ok := strings.CutPrefix(text, "# Subtest: "); ok {
			subtests.enter(indent, name)
			continue
		}
		if !strings.HasPrefix(text, "ok ") && !strings.HasPrefix(text, "not ok ") {
			continue
		}
		m := tapTest.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		// The result of a subtest stands where its title does, and closes it.
		subtests.leave(indent)
		s := Passed
		if m[1] != "ok" {
			s = Failed
		}
		t.add(m[2], subtests.joined+m[2], s)
	}
}
