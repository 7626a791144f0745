package tools

import (
	"fmt"
	"regexp"
	"strings"
)

// present puts an answer into the form of the style and within the limits.
func (t *Toolbox) present(name string, a answer) Observation {
	text := a.text
	if name == "execute_bash" || name == "search" {
		text = cutLines(text, t.limits.Lines)
	}
	text = cutCharacters(text, t.limits.Characters)
	switch {
	case a.done:
	case t.limits.Style == Brief:
		text = strings.TrimRight(text, "\n")
		if name == "execute_bash" && a.code > 0 && !a.refused {
			text = fmt.Sprintf("exit code %d\n%s", a.code, text)
		}
	case name == "execute_bash":
		text = fmt.Sprintf("Exit code: %s\nExecution output of [%s]:\n%s", exitText(a.code), name, text)
	default:
		text = fmt.Sprintf("Execution output of [%s]:\n%s", short(name), text)
	}
	return Observation{Text: text, ExitCode: a.code, Refused: a.refused, Done: a.done}
}

// exitText is the original's rendering of an exit status.
func exitText(code int) string {
	if code > 0 {
		return fmt.Sprintf("Error: Exit code %d", code)
	}
	return fmt.Sprint(code)
}

// cutLines keeps the first and last half of more than limit lines, with the
// original's mark between.
func cutLines(s string, limit int) string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) <= limit {
		return s
	}
	head, tail := limit-limit/2, limit/2
	bar := strings.Repeat("-", 50)
	return fmt.Sprintf("%s%s\n%d lines left out\n%s\n%s",
		strings.Join(lines[:head], ""), bar, len(lines)-limit, bar, strings.Join(lines[len(lines)-tail:], ""))
}

// cutCharacters keeps the first and last half of more than limit bytes, and
// whole characters.
func cutCharacters(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head := strings.ToValidUTF8(s[:limit-limit/2], "")
	tail := strings.ToValidUTF8(s[len(s)-limit/2:], "")
	return fmt.Sprintf("%s\n<%d characters left out>\n%s", head, len(s)-limit, tail)
}

var (
	resultLine  = regexp.MustCompile(`(?m)^(ok  |FAIL|\?   )(\t\S+)\t(?:\(cached\)|\d+\.\d+s)`)
	stackTrace  = regexp.MustCompile(`(?s)\n\n(?:runtime stack|goroutine \d+ [^\n]*):\n.*?(\nexit status \d+\n|$)`)
	elapsedTime = regexp.MustCompile(`(?m)^(\s*--- (?:PASS|FAIL|SKIP): .*) \(\d+\.\d+s\)$`)
)

// normalise takes out of go test's output what differs between two runs of the
// same code: durations and whether a result came from the build cache.
func normalise(output string) string {
	output = resultLine.ReplaceAllString(output, "$1$2")
	return elapsedTime.ReplaceAllString(output, "$1")
}

// withoutStacks takes out the stack traces of a panic: addresses, which differ
// between two runs of the same code, and fill the context of a small policy.
func withoutStacks(output string) string { return stackTrace.ReplaceAllString(output, "$1") }
