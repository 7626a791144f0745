package testlog

import (
	"regexp"
	"strings"
)

// django reads the verbose output of Django's runner (unittest's): "test (Class) ...
// ok". A test with a docstring prints its own name on the line before, and then the
// docstring, which is the dataset's name of it.
//
// What a test prints stands between "..." and its status. So a line that begins with
// "ok" is the status of the last test that a line opened, and three messages of the
// logger, which can run into one another, are looked for in the whole log.
func django(t *tally, log string) {
	var open, before string // the last test that a line opened; the line before
	var rescue late
	for line := range lines(log) {
		if test, ok := rescue.see(line); ok {
			t.add(test, "", Passed)
		}
		line = strip(line)
		name := func(test string) string {
			if testLine.MatchString(before) {
				return before + " " + test
			}
			return ""
		}
		if strings.Contains(line, versionTest) {
			t.add(versionTest, "", Passed)
		}
		test, _, opens := strings.Cut(line, " ... ")
		if opens {
			open = test
		}
		for _, suffix := range []string{" ... ok", " ... OK", " ...  OK"} {
			if test, ok := strings.CutSuffix(line, suffix); ok {
				if strings.HasPrefix(test, migration) {
					_, test, _ = strings.Cut(test, "...")
				}
				t.add(strip(test), name(strip(test)), Passed)
				break
			}
		}
		if test, _, ok := strings.Cut(line, " ... skipped"); ok {
			t.add(test, name(test), Skipped)
		}
		for _, end := range []struct {
			word string
			s    Status
		}{{"FAIL", Failed}, {"ERROR", Error}} {
			if strings.HasSuffix(line, " ... "+end.word) {
				test, _, _ := strings.Cut(line, " ... "+end.word)
				t.add(test, name(test), end.s)
			}
			if rest, ok := strings.CutPrefix(line, end.word+":"); ok {
				if test, more := firstField(rest); test != "" {
					t.add(test, strip(test+" "+more), end.s)
				}
			}
		}
		if strings.HasPrefix(line, "ok") && open != "" {
			t.add(open, "", Passed)
		}
		before = line
	}
}

const (
	// versionTest is a docstring of Django's own tests that its output cuts in two.
	versionTest = "--version is equivalent to version"
	// migration is a message that django__django-7188 prints without a line end.
	migration = "Applying sites.0002_alter_domain_unique...test_no_migrations"
)

// testLine is the line of a test that has a docstring.
var testLine = regexp.MustCompile(`^\w+ \([\w.]+\)$`)

// late finds the tests whose "ok" stands on a line of its own, behind one of three
// messages of the logger.
type late struct {
	line string // the line before, as it is printed
	open string // a test behind which Django says where it is installed, over lines
}

// see takes the next line, and returns the test that it says has passed.
func (l *late) see(line string) (test string, passed bool) {
	before := l.line
	l.line = line
	if l.open != "" {
		if line == "ok" && strings.HasSuffix(before, " silenced).") {
			test, l.open = l.open, ""
			return test, true
		}
		return "", false
	}
	if test, _, ok := strings.Cut(line, " ... Testing against Django installed in "); ok {
		l.open = test
		return "", false
	}
	if line != "ok" {
		return "", false
	}
	if test, rest, ok := strings.Cut(before, " ... Internal Server Error: /"); ok && strings.HasSuffix(rest, "/") {
		return test, true
	}
	return strings.CutSuffix(before, " ... System check identified no issues (0 silenced)")
}
