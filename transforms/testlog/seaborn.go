package testlog

import "strings"

// seaborn reads pytest's summary, and the lines of its progress, "path::test PASSED
// [ 10%]". Only passes and failures count.
func seaborn(t *tally, log string) {
	for line := range lines(log) {
		switch s := leading(line); {
		case s == Failed, s == Passed && !strings.Contains(line, " PASSED "):
			word, rest := firstField(line)
			test, _ := firstField(rest)
			if test == "" || !t.compat && word != string(s) {
				continue
			}
			name, _, _ := strings.Cut(rest, " - ")
			t.add(test, strip(name), s)
		case strings.Contains(line, " PASSED "):
			test, rest := firstField(line)
			if word, _ := firstField(rest); word == "PASSED" {
				t.add(test, "", Passed)
			}
		}
	}
}
