package prove

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	// reportLines and reportLineBytes bound the part of a log that a report quotes.
	reportLines     = 12
	reportLineBytes = 240
)

var (
	// position is a place in a source file, with what stands around it.
	position = regexp.MustCompile(`\(?[\w./@-]*\w\.go(:\d+)*\)?(: ?| )?`)
	// testName is a name that the testing package runs, with its subtests.
	testName = regexp.MustCompile(`\b(?:Test|Example|Fuzz|Benchmark)(?:[A-Z_0-9]\w*)?(?:/\S+)?\b`)
	// stackStart begins the part of a crash that nobody reads who does not know the code.
	stackStart = regexp.MustCompile(`^(goroutine \d+ |\[signal |panic\()`)
	// logTime is what package log begins a line with; it differs from run to run.
	logTime = regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(\.\d+)? `)
	// noise are lines of the testing package itself.
	noise = regexp.MustCompile(`^\s*(=== |--- |PASS$|FAIL\b|ok\s|exit status |coverage: |\[recovered|\.{3} )`)
)

// Report is an issue text about a package whose build fails: in the words of somebody
// who reads the build's log and knows neither tests nor cause. It quotes what the
// failing tests printed, without names of tests, places in files and stacks, and
// leaves out every line that holds one of the secrets.
func Report(importPath string, o Outcome, failToPass []Test, secrets []string) string {
	failing := map[string]bool{}
	for _, t := range failToPass {
		failing[t.Name] = true
	}
	var quoted []string
	crashed := map[string]bool{} // package and test whose stack is being printed
	events(o.Output, func(e event, _ int) {
		name := e.Package + "." + e.Test
		if e.Action != "output" || !failing[name] || crashed[name] {
			return
		}
		if stackStart.MatchString(e.Output) {
			crashed[name] = true
			return
		}
		line := anonymous(e.Output)
		if line == "" || len(quoted) >= reportLines || slices.Contains(quoted, line) || holdsAny(line, secrets) {
			return
		}
		quoted = append(quoted, line)
	})
	if len(quoted) == 0 {
		return fmt.Sprintf("Package %s gives wrong results for some inputs. It worked before.", importPath)
	}
	return fmt.Sprintf("Package %s does not work any more. The build that checks it prints:\n\n    %s\n\nIt should work as it did before.",
		importPath, strings.Join(quoted, "\n    "))
}

// anonymous takes out of a line of a log what names a test or a place; it is empty
// when nothing is left.
func anonymous(line string) string {
	if noise.MatchString(line) {
		return ""
	}
	line, _, _ = strings.Cut(line, " [recovered")
	line = logTime.ReplaceAllString(line, "")
	line = position.ReplaceAllString(line, "")
	line = testName.ReplaceAllString(line, "the check")
	line = strings.TrimSpace(strings.ToValidUTF8(line, "?"))
	if len(line) > reportLineBytes {
		line = strings.ToValidUTF8(line[:reportLineBytes], "") + " ..."
	}
	if !strings.ContainsFunc(line, func(r rune) bool { return r != '.' && r != '-' && r != '^' && r > ' ' }) || line == "the check" {
		return ""
	}
	return line
}

// shortSecret is the length in bytes under which a text gives nothing away: an
// operator, a brace.
const shortSecret = 8

func holdsAny(line string, secrets []string) bool {
	return slices.ContainsFunc(secrets, func(s string) bool {
		s = strings.TrimSpace(s) // as lines are
		return len(s) >= shortSecret && strings.Contains(line, s)
	})
}
