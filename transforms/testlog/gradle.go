package testlog

import (
	"regexp"
	"strings"
)

var (
	gradleTest = regexp.MustCompile(`^([^>].+)\s+(PASSED|FAILED)$`)
	// gradleName is a test whose status something else was printed before.
	gradleName = regexp.MustCompile(`^([^>]\S*\s+>\s+\S+)$`)
)

// gradle reads the lines "Class > method PASSED" of a Gradle that logs its tests. A
// status on a line of its own belongs to the last test that had none.
func gradle(t *tally, log string) {
	open := ""
	for line := range lines(log) {
		line = strip(line)
		switch {
		case (line == "PASSED" || line == "FAILED") && open != "":
			t.add(open, "", Status(line))
			open = ""
		case strings.HasSuffix(line, "PASSED"), strings.HasSuffix(line, "FAILED"):
			if m := gradleTest.FindStringSubmatch(line); m != nil {
				t.add(m[1], "", Status(m[2]))
				open = ""
			}
		case strings.Contains(line, ">"):
			if gradleName.MatchString(line) {
				open = line
			}
		}
	}
}
