package testlog

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	// jestTest is a test in jest's verbose output: "✓ name (3 ms)".
	jestTest = regexp.MustCompile(`^(✓|✕|○)\s(.+?)(?:\s\(\d+\s*m?s\))?$`)
	// jestFile opens a file: "PASS src/a.test.js (5.2 s)".
	jestFile = regexp.MustCompile(`^(?:PASS|FAIL)\s+(\S+)`)
)

var jestStatus = map[string]Status{"✓": Passed, "✕": Failed, "○": Skipped}

// jest reads jest --verbose. The dataset's name is the test alone; Name has its file
// and the suites around it, which are lines that are indented less.
func jest(t *tally, log string) {
	file, suites := "", nesting{}
	for line := range lines(log) {
		indent := indentation(line)
		text := strip(line)
		if text == "" {
			continue
		}
		if text[0] >= utf8.RuneSelf { // only the marks need the slow look
			if m := jestTest.FindStringSubmatch(text); m != nil {
				suites.leave(indent)
				test := strip(m[2])
				t.add(test, file+suites.joined+test, jestStatus[m[1]])
				continue
			}
		}
		if indent > 0 {
			suites.enter(indent, text)
			continue
		}
		suites = nesting{}
		if m := jestFile.FindStringSubmatch(text); m != nil {
			file = m[1][:min(len(m[1]), maxName/2)] + separator
		} else if strings.HasPrefix(text, "Test Suites:") {
			file = ""
		}
	}
}

var (
	// vitestTest is a test in vitest's verbose output: "✓ file > suite > name 3ms".
	vitestTest = regexp.MustCompile(`^(✓|×|↓)\s(.+?)(?:\s(?:\d+\s*m?s?|\[skipped\]))?$`)
	// vitestTime is what vitest really adds to a name.
	vitestTime = regexp.MustCompile(`\s(?:\d+\s*m?s|\[skipped\])$`)
)

var vitestStatus = map[string]Status{"✓": Passed, "×": Failed, "↓": Skipped}

// vitest reads vitest --reporter=verbose, whose names have file and suites. The
// dataset's name lacks a number that it ends with, which the original takes for a
// time; Name has it.
func vitest(t *tally, log string) {
	for line := range lines(log) {
		line = strip(line)
		if line == "" || line[0] < utf8.RuneSelf {
			continue
		}
		m := vitestTest.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := strip(strings.TrimPrefix(line, m[1]))
		t.add(m[2], vitestTime.ReplaceAllLiteralString(name, ""), vitestStatus[m[1]])
	}
}
