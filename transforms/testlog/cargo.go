package testlog

import (
	"regexp"
	"strings"
)

var (
	// cargoTest is libtest's line. Names with spaces (documentation tests, "should
	// panic") are no names of the datasets.
	cargoTest = regexp.MustCompile(`^test\s+(\S+)\s+\.\.\.\s+(ok|FAILED)$`)
	// cargoBinary is cargo's line before a binary: "Running unittests src/lib.rs
	// (target/debug/deps/name-0123456789abcdef)".
	cargoBinary = regexp.MustCompile(`^Running (?:unittests )?(\S+) \(\S*?([^/\\\s]+)-[0-9a-f]{16}(?:\.exe)?\)$`)
)

// cargo reads cargo test. The dataset's name is libtest's, "module::test", which
// each binary of a workspace may have; Name begins with the binary and its source.
func cargo(t *tally, log string) {
	binary := ""
	for line := range lines(log) {
		switch {
		case strings.Contains(line, "test"), strings.Contains(line, "Running "):
			line = strip(line)
		default:
			continue
		}
		if m := cargoBinary.FindStringSubmatch(line); m != nil {
			binary = m[2] + " " + m[1] + " "
			continue
		}
		if !strings.HasPrefix(line, "test") {
			continue
		}
		if m := cargoTest.FindStringSubmatch(line); m != nil {
			s := Passed
			if m[2] == "FAILED" {
				s = Failed
			}
			t.add(m[1], binary+m[1], s)
		}
	}
}
