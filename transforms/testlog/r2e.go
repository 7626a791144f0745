package testlog

import "strings"

// summaryTitle opens pytest's short summary.
const summaryTitle = "short test summary info"

// r2e reads pytest's short summary as R2E-Gym does, from the first title to the
// next. The dataset's name of "path::Class::test" is "Class.test", without its file,
// up to " - "; Name has the file. A line without "::", such as a file that could not
// be collected, has the empty name there: it counts among the tests.
//
// The original takes any line that holds PASSED for a pass, then FAILED, then ERROR,
// so that a failure whose message says PASSED passes. Only compat does that; else the
// status is the line's first word.
func r2e(t *tally, log string) {
	_, log, ok := strings.Cut(log, summaryTitle)
	if !ok {
		return
	}
	log, _, _ = strings.Cut(log, summaryTitle)
	for line := range lines(log) {
		var s Status
		if t.compat {
			s = anywhere(line)
			line = plain(line)
		} else if word, _ := firstField(line); word == string(Passed) || word == string(Failed) || word == string(Error) {
			s = Status(word)
		}
		if s == "" {
			continue
		}
		_, test, _ := strings.Cut(line, "::")
		test, _, _ = strings.Cut(strings.ReplaceAll(test, "::", "."), " - ")
		_, id := firstField(line)
		id, _, _ = strings.Cut(id, " - ")
		t.add(test, strip(id), s)
	}
}

// anywhere returns the first of three statuses that a line holds.
func anywhere(line string) Status {
	for _, s := range []Status{Passed, Failed, Error} {
		if strings.Contains(line, string(s)) {
			return s
		}
	}
	return ""
}
