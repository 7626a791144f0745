package testlog

import "strings"

// sweSmith reads the progress of pytest -v as SWE-smith does: "path::test PASSED [
// 10%]", a word, a status, and whatever follows. A name with spaces has none.
func sweSmith(t *tally, log string) {
	for line := range lines(log) {
		i := strings.IndexFunc(line, space)
		if i <= 0 {
			continue
		}
		rest := strings.TrimLeftFunc(line[i:], space)
		if s := leading(rest); s != "" {
			t.add(line[:i], "", s)
		}
	}
}

// sweSmithRust reads cargo test as SWE-smith does: any line with "... ok" or
// "... FAILED", named by what stands before the last dots. So, unlike [cargo], it
// knows documentation tests.
func sweSmithRust(t *tally, log string) {
	for line := range lines(log) {
		s := Passed
		if !strings.Contains(line, "... ok") {
			if !strings.Contains(line, "... FAILED") {
				continue
			}
			s = Failed
		}
		line = strings.TrimPrefix(line, "test ")
		if i := strings.LastIndex(line, " ... "); i >= 0 {
			line = line[:i]
		}
		t.add(strip(line), "", s)
	}
}
