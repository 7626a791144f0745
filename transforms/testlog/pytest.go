package testlog

import "strings"

// pytest reads the lines of pytest's short summary (-rA), "PASSED path::test": the
// status first, then the test. The dataset's name ends at the first space, so
// "test_a[x y]" is "test_a[x"; its Name is the whole. A reason follows " - ".
func pytest(t *tally, log string) { summary(t, log, nil) }

// matplotlib is pytest; two names of mouse buttons are numbers in the expectations,
// which were recorded with another Python.
func matplotlib(t *tally, log string) {
	buttons := strings.NewReplacer("MouseButton.LEFT", "1", "MouseButton.RIGHT", "3")
	summary(t, log, buttons.Replace)
}

// pytestOptions is pytest; an absolute path as a parameter is its last part, since
// it names a temporary directory.
func pytestOptions(t *tally, log string) { summary(t, log, lastPathPart) }

// summary reads status-first lines; change is applied to both names of a test.
func summary(t *tally, log string, change func(string) string) {
	for line := range lines(log) {
		s, test, name, ok := statusFirst(t, line)
		if !ok {
			continue
		}
		if change != nil {
			test, name = change(test), change(name)
		}
		t.add(test, name, s)
	}
}

// statusFirst splits "STATUS test[a b] - reason". The line "SKIPPED [3] file:7: why"
// counts tests and names none; the original takes "[3]" for a test.
func statusFirst(t *tally, line string) (s Status, test, name string, ok bool) {
	s = leading(line)
	if s == "" {
		return "", "", "", false
	}
	word, rest := firstField(line)
	if word != string(s) {
		return "", "", "", false
	}
	name, _, _ = strings.Cut(rest, " - ")
	name = strip(name)
	test, _ = firstField(name)
	if s == Skipped && !t.compat && count(test) {
		return "", "", "", false
	}
	return s, test, name, test != ""
}

// leading returns the status that a line begins with.
func leading(line string) Status {
	if line == "" {
		return ""
	}
	switch line[0] { // most lines are none, and this is asked of every line
	case 'P', 'F', 'E', 'S', 'X':
		for _, s := range severity {
			if strings.HasPrefix(line, string(s)) {
				return s
			}
		}
	}
	return ""
}

// count reports whether a word is a number in brackets.
func count(word string) bool {
	digits, ok := strings.CutPrefix(word, "[")
	digits, closed := strings.CutSuffix(digits, "]")
	return ok && closed && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// lastPathPart makes "test[/a/b]" "test[/b]". Parameters that begin with two
// slashes, hold a star or are no path stay as they are; what follows the last
// bracket falls away, as in the original.
func lastPathPart(name string) string {
	head, option, ok := strings.Cut(name, "[")
	end := strings.LastIndexByte(option, ']')
	if !ok || end < 0 {
		return name
	}
	option = option[:end]
	if strings.HasPrefix(option, "/") && !strings.HasPrefix(option, "//") && !strings.Contains(option, "*") {
		option = option[strings.LastIndexByte(option, '/'):]
	}
	return head + "[" + option + "]"
}
