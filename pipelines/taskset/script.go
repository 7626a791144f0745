package taskset

import (
	"fmt"
	"strings"

	"millrace/transforms/sandbox"
	"millrace/transforms/testlog"
)

// commandBytes is the longest argument that Linux takes (MAX_ARG_STRLEN, 32 pages
// of 4 KiB, with its closing zero). Setup and TestCommand are one argument of sh.
const commandBytes = 128<<10 - 1

// The names of formats and rules of package testlog that a kind of dataset has as
// a whole. Other formats come of a row's repository or parser.
const (
	formatR2E        = "r2e"
	formatPytest     = "pytest"
	formatSWESmith   = "swe-smith"
	formatSWESmithGo = "swe-smith-go"

	ruleR2E        = "r2e"
	ruleSWEBench   = "swe-bench"
	ruleSWEBench5  = "swe-bench-v5"
	ruleFailOnly   = "fail-only"
	ruleSWESmith   = "swe-smith"
	ruleSWERebench = "swe-rebench"
)

// activateConda makes the environment of SWE-bench's and SWE-smith's images the
// current one, in bash.
const activateConda = "source /opt/miniconda3/bin/activate\nconda activate testbed\ncd " + testbed

// testbed is the repository's directory in the images of all datasets but
// SWE-rebench.
const testbed = "/testbed"

// bashTests is a test command that runs bash lines: those that prepare, whose
// failure is not asked about, and the tests between the markers. Its exit status is
// that of the tests. Errors go where the output goes, since some test programs
// report on one and some on the other.
func bashTests(prepare []string, tests string) string {
	lines := append([]string{"exec 2>&1"}, prepare...)
	lines = append(lines, "echo "+quote(testlog.StartMarker), tests, "status=$?", "echo "+quote(testlog.EndMarker), "exit $status")
	return bash(strings.Join(lines, "\n"))
}

// bash is a command line of sh that runs a script by bash, which reads nothing of
// it from standard input: a test may read that.
func bash(script string) string { return "exec bash -c " + quote(script) }

// quote makes a word of any text, for a POSIX shell.
func quote(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-./:=,@%+", c)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return sandbox.Quote(s)
}

// quoteAll is a list of words.
func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

// hereDocument feeds text to a command, unexpanded.
func hereDocument(command, text string) string {
	end := "END_OF_TEXT"
	for strings.Contains(text, end) {
		end += "_"
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fmt.Sprintf("%s <<'%s'\n%s%s\n", command, end, text, end)
}
