package testlog

import (
	"regexp"
	"strings"
)

// sympyFile is the line that opens a file: "sympy/core/tests/test_basic.py[20]".
var sympyFile = regexp.MustCompile(`^(\S+\.py)\[\d+\]`)

// sympy reads the verbose output of sympy's own runner: a line a file, then lines
// "test_name ok", "F" or "E"; and headers "____ file.py:test_name ____" over each
// failure. The dataset's name has no file, so Name has it.
func sympy(t *tally, log string) {
	// Headers first: with compat the last verdict of a name wins.
	for line := range lines(log) {
		if test, ok := failureHeader(line); ok {
			t.add(test, "", Failed)
		}
	}
	file := ""
	for line := range lines(log) {
		line = strip(line)
		if strings.Contains(line, ".py[") {
			if m := sympyFile.FindStringSubmatch(line); m != nil {
				file = m[1]
				continue
			}
		}
		if !strings.HasPrefix(line, "test_") {
			continue
		}
		for _, outcome := range []string{"[FAIL]", "[OK]"} { // the file's, behind its last test
			if rest, ok := strings.CutSuffix(line, outcome); ok && !t.compat {
				line = strip(rest)
			}
		}
		test, _ := firstField(line)
		name := ""
		if file != "" {
			name = file + ":" + test
		}
		switch {
		case strings.HasSuffix(line, " E"):
			t.add(test, name, Error)
		case strings.HasSuffix(line, " F"):
			t.add(test, name, Failed)
		case strings.HasSuffix(line, " ok"):
			t.add(test, name, Passed)
		}
	}
}

// failureHeader returns "path.py:test" of a line "____ path.py:test ____": what
// stands between the line's first and last spaces.
func failureHeader(line string) (string, bool) {
	if !strings.Contains(line, ".py:") {
		return "", false
	}
	first, last := strings.IndexByte(line, ' '), strings.LastIndexByte(line, ' ')
	if first < 0 || first == last {
		return "", false
	}
	test := line[first+1 : last]
	return test, strings.Contains(test, ".py:")
}
