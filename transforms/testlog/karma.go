package testlog

import "strings"

// karma reads karma's mocha reporter, from "Starting browser" to "SUMMARY:". The
// dataset's names have the suites around a test, as the original finds them: a line
// indented more opens one, a line indented less closes one and opens none, and one
// indented alike changes nothing.
func karma(t *tally, log string) {
	started, indent := false, -1
	var suites []string
	for line := range lines(log) {
		if strings.HasPrefix(line, "SUMMARY:") {
			return
		}
		if strings.Contains(line, "Starting browser") {
			started = true
			continue
		}
		if !started {
			continue
		}
		in, mark, name, ok := karmaParts(line)
		if !ok {
			continue
		}
		if mark == "" {
			switch {
			case in == 0:
			case in > indent:
				indent = in
				if len(suites) < maxDepth {
					suites = append(suites, name[:min(len(name), 256)])
				}
			case in < indent:
				indent = in
				suites = suites[:max(len(suites)-1, 0)]
			}
			continue
		}
		s := Passed
		if mark == "✖" {
			s = Failed
		}
		t.add(strings.Join(append(suites[:len(suites):len(suites)], name), separator), "", s)
	}
}

// karmaParts splits a line into the length of its indentation, its mark and its
// text. Of a line without a mark the last space belongs to the pattern, not to the
// indentation.
func karmaParts(line string) (indent int, mark, name string, ok bool) {
	rest := strings.TrimLeftFunc(line, space)
	indent = len(line) - len(rest)
	for _, mark := range []string{"✔", "✖"} {
		if after, ok := strings.CutPrefix(rest, mark); ok {
			name := strings.TrimPrefix(after, " ")
			return indent, mark, name, len(name) < len(after)
		}
	}
	if indent == 0 {
		return 0, "", "", false
	}
	return indent - 1, "", rest, true
}
