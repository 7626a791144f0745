package testlog

import (
	"strings"
)

// goTest reads go test -v. The verdict of a test or subtest is a line "--- PASS:
// TestA/low (0.00s)", and the dataset's name is the test alone. The package stands
// on the line that ends it, "ok  path 0.1s" or "FAIL path 0.1s", so Name is known
// when that line comes.
//
// A test that is running when its package or the log ends has failed, as with
// [GoTestJSON]; with compat it has no verdict.
func goTest(t *tally, log string) {
	var tests []Verdict        // of the package that has not ended
	at := make(map[string]int) // their places
	see := func(test string, s Status) {
		if i, ok := at[test]; ok {
			tests[i].Status = worse(tests[i].Status, s)
			return
		}
		if len(tests) < maxVerdicts {
			at[test] = len(tests)
			tests = append(tests, Verdict{Test: test, Status: s})
		}
	}
	end := func(path string) {
		for _, v := range tests {
			name := v.Test
			if path != "" {
				name = path + "." + v.Test
			}
			t.add(v.Test, name, v.Status)
		}
		tests = tests[:0]
		clear(at)
	}
	for line := range lines(log) {
		if path, ok := packageEnd(line); ok {
			end(path)
			continue
		}
		line = strip(line)
		if test, s, ok := goVerdict(line); ok {
			if t.compat {
				t.add(test, "", s)
			} else {
				see(test, s)
			}
		} else if test, ok := strings.CutPrefix(line, "=== RUN "); ok && !t.compat {
			see(strip(test), "")
		}
	}
	end("")
}

// goVerdict reads "--- PASS: test (0.00s)".
func goVerdict(line string) (test string, s Status, ok bool) {
	rest, ok := strings.CutPrefix(line, "--- ")
	if !ok || !strings.HasSuffix(rest, ")") {
		return "", "", false
	}
	word, test, ok := strings.Cut(rest, ": ")
	open := strings.LastIndex(test, " (")
	if !ok || open <= 0 || open+len(" (") == len(test)-1 {
		return "", "", false
	}
	switch word {
	case "PASS":
		s = Passed
	case "FAIL":
		s = Failed
	case "SKIP":
		s = Skipped
	default:
		return "", "", false
	}
	return test[:open], s, true
}

// packageEnd returns the package that the go command says has ended: its line has
// the path between tabs, and the time, "(cached)" or "[build failed]" behind it.
func packageEnd(line string) (path string, ok bool) {
	word, rest, ok := strings.Cut(line, "\t")
	if word = strings.TrimRight(word, " "); !ok || word != "ok" && word != "FAIL" {
		return "", false
	}
	path, _, _ = strings.Cut(rest, "\t")
	path, _, _ = strings.Cut(path, " [")
	return path, path != "" && !strings.ContainsFunc(path, space)
}
