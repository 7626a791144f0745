package testlog

import (
	"regexp"
	"strconv"
	"strings"
)

// The lines by which SWE-bench's evaluation scripts structure a log.
const (
	// StartMarker and EndMarker stand around the output of the tests.
	StartMarker = ">>>>> Start Test Output"
	EndMarker   = ">>>>> End Test Output"
	// ExitMarker is followed by ": " and the test command's exit status (v5).
	ExitMarker = ">>>>> Test Exit Code"
)

// badCodes say that the tests were not run, or not to their end. Nothing in a log
// that has one counts.
var badCodes = []string{
	">>>>> Patch Apply Failed",
	">>>>> Reset Failed",
	">>>>> Tests Errored",
	">>>>> Tests Timed Out",
}

// region returns the part of a log that the tests printed: what follows the first
// start marker, up to the next marker. A log without markers is all of that part,
// since not every test command prints them; SWE-bench does not resolve such a log. A
// start without an end is a script that was killed, and is void as there.
func region(log string) (tests string, r Results) {
	for _, code := range badCodes {
		if strings.Contains(log, code) {
			r.Void = "the log says " + strings.TrimLeft(code, "> ")
			return log, r
		}
	}
	_, tests, started := strings.Cut(log, StartMarker)
	if !started {
		return log, r
	}
	if !strings.Contains(log, EndMarker) {
		r.Void = "the tests began and did not end: the log has no " + strconv.Quote(EndMarker)
		return tests, r
	}
	r.Exit = exitStatus(log)
	tests, _, _ = strings.Cut(tests, StartMarker)
	tests, _, _ = strings.Cut(tests, EndMarker)
	return tests, r
}

// exitStatus returns the first exit status that the log records, or nil.
func exitStatus(log string) *int {
	for {
		_, after, ok := strings.Cut(log, ExitMarker+":")
		if !ok {
			return nil
		}
		word, _ := firstField(after[:min(len(after), 32)])
		if n, err := strconv.Atoi(strings.TrimRight(word, "'\"")); err == nil {
			return &n
		}
		log = after
	}
}

// ran matches the summaries of runners that ran at least one test. A count of zero
// is none: a browser that does not start leaves "Executed 0 of 0".
var ran = regexp.MustCompile(`Executed [1-9]\d* of \d+` + // karma
	`|TOTAL: [1-9]\d* (?:SUCCESS|FAILED)` + // karma
	`|[1-9]\d* passing` + // mocha
	`|Tests:\s+[1-9]\d*` + // jest
	`|Test Suites:\s+(?:\d+ \w+, )*[1-9]\d* total` + // jest
	`|(?m:^# tests [1-9]\d*)` + // TAP
	`|[1-9]\d* specs?, \d+ failures?`) // jasmine

// evidence reports whether a runner says that it ran tests, for formats that print
// failures only: there a log without verdicts is either perfect or empty.
func evidence(log string) bool { return ran.MatchString(log) }
