package testlog

import (
	"regexp"
	"strings"
)

var (
	mavenTest  = regexp.MustCompile(`^.*-Dtest=(\S+).*$`)
	mavenBuild = regexp.MustCompile(`^.*BUILD (SUCCESS|FAILURE)$`)
)

// maven reads a log of one mvn command a test, traced by the shell: the test is the
// command's -Dtest, its status that of the build, since maven names no test that
// passes. Commands and builds are matched in order, wherever two streams put them.
func maven(t *tally, log string) {
	var tests []string
	var builds []Status
	for line := range lines(log) {
		if strings.Contains(line, "-Dtest=") {
			if m := mavenTest.FindStringSubmatch(strip(line)); m != nil && len(tests) < maxVerdicts {
				tests = append(tests, m[1])
			}
		}
		if strings.Contains(line, "BUILD ") {
			if m := mavenBuild.FindStringSubmatch(strip(line)); m != nil && len(builds) < maxVerdicts {
				builds = append(builds, map[string]Status{"SUCCESS": Passed, "FAILURE": Failed}[m[1]])
			}
		}
	}
	for i := range min(len(tests), len(builds)) {
		t.add(tests[i], "", builds[i])
	}
}

var (
	surefireNew = regexp.MustCompile(`^\[(?:INFO|ERROR)\]\s+(.*?)\s+--\s+Time elapsed:\s+[\d.]+\s`)
	surefireOld = regexp.MustCompile(`^(\w+)\(([\w.]+)\)\s+Time elapsed:\s+[\d.]+\s+sec`)
)

// surefire reads Surefire's plain report of each method, as SWE-smith asks for it
// (-Dsurefire.reportFormat=plain): "[INFO] method -- Time elapsed: 0.001 s", with
// "<<< FAILURE!" or "<<< ERROR!" behind it, or "method(class)  Time elapsed: 0 sec"
// of old versions. The new form names no class, so Name has that of the last line
// "Running class".
func surefire(t *tally, log string) {
	class := ""
	for line := range lines(log) {
		line = strip(line)
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(line, "[INFO] "), "Running "); ok {
			class = rest[:min(len(rest), maxName/2)] + "."
			continue
		}
		if !strings.Contains(line, "Time elapsed:") {
			continue
		}
		s := Passed
		switch {
		case strings.Contains(line, "<<< FAILURE!"), strings.Contains(line, "<<< ERROR!"):
			s = Failed
		case strings.Contains(line, "SKIPPED"):
			s = Skipped
		}
		if m := surefireNew.FindStringSubmatch(line); m != nil {
			t.add(m[1], class+m[1], s)
		} else if m := surefireOld.FindStringSubmatch(line); m != nil {
			t.add(m[2]+"."+m[1], "", s)
		}
	}
}
