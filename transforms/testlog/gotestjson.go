package testlog

import (
	"encoding/json"
	"slices"
	"strings"
)

// event is one line of "go test -json"; the fields of cmd/test2json and of
// "go build -json" that carry a verdict.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	FailedBuild string
}

// eventStarts are the ways in which the go command begins an event. They are
// looked for inside a line too, since standard error and the events share one
// stream and a message may lack its newline.
var eventStarts = []string{`{"Time":`, `{"Action":`, `{"ImportPath":`}

// parseGoTest reads the output of "go test -json", merged with standard error.
// Lines that are no event are text. It never fails: a stream cut anywhere yields
// the verdicts that are in it, and a test it does not name has not passed. Test is
// the function, for a subtest followed by "/" and its name; Name is the import path
// as the go command printed it, a dot and Test.
//
// A test with several verdicts (-count, equal names) has the worst of them. A test
// that is running when its package ends, or when the stream ends, failed: a panic,
// os.Exit and a kill end a stream so.
func parseGoTest(output string, o Options) Results {
	p := goEvents{tests: tally{compat: o.Compat}, builds: make(map[string]bool)}
	for line := range strings.Lines(output) {
		p.line(strings.TrimRight(line, "\r\n"))
	}
	r := Results{Verdicts: p.tests.results(), Text: p.text.String(), Trouble: p.trouble}
	r.Ran = len(r.Verdicts) > 0
	for b := range p.builds {
		r.FailedBuilds = append(r.FailedBuilds, b)
	}
	slices.Sort(r.FailedBuilds)
	return r
}

// goEvents is what a stream of events has said so far.
type goEvents struct {
	tests  tally
	builds map[string]bool
	text   tail
	// trouble is the first line that names a shortage of the host.
	trouble string
}

func (p *goEvents) line(line string) {
	text, e, ok := splitEvent(line)
	if text != "" {
		p.goCommand(text + "\n")
	}
	if !ok {
		return
	}
	p.text.add(e.Output)
	switch e.Action {
	case "build-output":
		p.goCommand(e.Output)
	case "build-fail":
		p.buildFailed(e.ImportPath)
	case "run":
		p.see(e, "")
	case "pass":
		p.see(e, Passed)
	case "skip":
		p.see(e, Skipped)
	case "fail":
		if e.FailedBuild != "" {
			p.buildFailed(e.FailedBuild)
		}
		p.see(e, Failed)
	}
}

// goCommand takes text that the go command or the shell wrote, not a test.
func (p *goEvents) goCommand(text string) {
	p.text.add(text)
	if p.trouble == "" && hostTrouble(text) {
		p.trouble = strings.TrimSpace(own(text[:min(len(text), tailBytes)]))
	}
}

func (p *goEvents) buildFailed(path string) {
	if len(p.builds) < maxVerdicts && len(path) <= maxName {
		p.builds[path] = true
	}
}

// see records a verdict. Events without a test are about the package, which has
// no verdict of its own: build failures are in builds, tests speak for themselves.
func (p *goEvents) see(e event, s Status) {
	if e.Test != "" {
		p.tests.add(e.Test, e.Package+"."+e.Test, s)
	}
}

// splitEvent separates an event at the end of a line from text before it.
func splitEvent(line string) (text string, e event, ok bool) {
	for _, start := range eventStarts {
		i := strings.Index(line, start)
		if i < 0 {
			continue
		}
		if json.Unmarshal([]byte(line[i:]), &e) == nil && e.Action != "" {
			return line[:i], e, true
		}
		e = event{}
	}
	return line, event{}, false
}

// hostTrouble reports whether the go command or the shell complains about a
// shortage of the machine. Only text that is not a test's output is asked, so a
// test cannot claim it by printing. Code that exhausts the sandbox's own limits
// while the go command still needs them looks the same, and is given no reward
// rather than a wrong one.
func hostTrouble(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{
		"no space left on device",          // ENOSPC
		"disk quota exceeded",              // EDQUOT
		"resource temporarily unavailable", // EAGAIN from fork
		"cannot allocate memory",           // ENOMEM
		"too many open files",              // EMFILE, ENFILE
		"input/output error",               // EIO
	}, func(s string) bool { return strings.Contains(text, s) })
}
