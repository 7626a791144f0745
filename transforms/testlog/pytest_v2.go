package testlog

import (
	"regexp"
	"strings"
)

// colourEnd is what is left of a colour when its ESC was taken for a control
// character.
var colourEnd = regexp.MustCompile(`\[\d+m`)

// pytestV2 reads pytest's summary, and the lines "path::test PASSED" of an older
// pytest, where the status comes last. Control characters and remains of colours are
// taken off first.
func pytestV2(t *tally, log string) {
	for line := range lines(log) {
		line = clean(line)
		if leading(line) != "" {
			if s, test, name, ok := statusFirst(t, line); ok {
				t.add(test, name, s)
			}
			continue
		}
		test, s, ok := statusLast(line)
		if !ok || t.compat && strings.ContainsFunc(test, space) {
			continue // of several words the original takes the second for the status
		}
		t.add(test, "", s)
	}
}

// pytestV2First is pytestV2 as SWE-bench 3.0.2 to 3.0.14 read it: of lines where the
// status comes last they exchanged test and status, so such tests were never seen,
// and every test of an instance with an old pytest failed (two of astropy's in
// SWE-bench Verified). For numbers of that time.
func pytestV2First(t *tally, log string) {
	for line := range lines(log) {
		if s, test, name, ok := statusFirst(t, clean(line)); ok {
			t.add(test, name, s)
		}
	}
}

// clean takes the characters 1 to 31 and "[31m" out of a line.
func clean(line string) string {
	if strings.Contains(line, "m") && strings.Contains(line, "[") {
		line = colourEnd.ReplaceAllLiteralString(line, "")
	}
	control := func(r rune) bool { return 0 < r && r < ' ' }
	if !strings.ContainsFunc(line, control) {
		return line
	}
	return strings.Map(func(r rune) rune {
		if control(r) {
			return -1
		}
		return r
	}, line)
}

// statusLast splits "test STATUS".
func statusLast(line string) (test string, s Status, ok bool) {
	if line == "" || line[len(line)-1] != 'D' && line[len(line)-1] != 'R' && line[len(line)-1] != 'L' {
		return "", "", false
	}
	for _, s := range severity {
		test, ok := strings.CutSuffix(line, string(s))
		if !ok {
			continue
		}
		trimmed := strings.TrimRightFunc(test, space)
		if len(trimmed) == len(test) || trimmed == "" {
			return "", "", false
		}
		return strings.Join(fields(trimmed), " "), s, true
	}
	return "", "", false
}
