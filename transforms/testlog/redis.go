package testlog

import (
	"regexp"
	"strings"
)

var (
	redisTest = regexp.MustCompile(`^\[(ok|err|skip|ignore)\]:\s(.+?)(?:\s\(\d+\s*m?s\))?$`)
	redisFile = regexp.MustCompile(`\s+in\s+\S+$`)
)

// redis reads the runner of Redis and Valkey: "[ok]: name (3 ms)", and for a failure
// "[err]: name in tests/unit/expire.tcl", whose file is no part of the name.
func redis(t *tally, log string) {
	for line := range lines(log) {
		if !strings.Contains(line, "]: ") {
			continue
		}
		m := redisTest.FindStringSubmatch(strip(line))
		if m == nil {
			continue
		}
		switch m[1] {
		case "ok":
			t.add(m[2], "", Passed)
		case "err":
			t.add(redisFile.ReplaceAllLiteralString(m[2], ""), "", Failed)
		default:
			t.add(m[2], "", Skipped)
		}
	}
}
