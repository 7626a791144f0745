package score

import (
	"encoding/json"
	"slices"
	"strings"
)

// Status is what a test came to.
type Status string

// The statuses. A test that started and never ended has status Fail.
const (
	Pass Status = "pass"
	Fail Status = "fail"
	Skip Status = "skip"
)

// Verdict is the status of one test or subtest.
type Verdict struct {
	// Package is the import path as the go command printed it.
	Package string `json:"p,omitempty"`
	// Test is the function's name, for a subtest followed by "/" and its name.
	Test   string `json:"t"`
	Status Status `json:"s"`
}

// Name is "package/Test", the key of the verdict in a stream.
func (v Verdict) Name() string { return v.Package + "/" + v.Test }

// Results is what a test command's output says.
type Results struct {
	// Verdicts are sorted by package and test; a name occurs once.
	Verdicts []Verdict `json:"v,omitempty"`
	// FailedBuilds are the packages that did not compile, sorted.
	FailedBuilds []string `json:"b,omitempty"`
	// Text is the tail of the output as a person would have seen it.
	Text string `json:"o,omitempty"`
	// Trouble is set when the go command itself, not a test, reported that the
	// host lacks something (see [hostTrouble]).
	Trouble string `json:"-"`
}

// maxVerdicts bounds memory against a program that prints test names for ever;
// it is far above the number of tests in the largest Go module.
const maxVerdicts = 1 << 16

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

// ParseGoTest reads the output of "go test -json", merged with standard error.
// Lines that are no event are text. It never fails: a stream cut anywhere yields
// the verdicts that are in it, and a test it does not name has not passed.
//
// A test with several verdicts (-count, equal names) has the worst of them: Fail
// before Skip before Pass. A test that is running when its package ends, or
// when the stream ends, failed: a panic, os.Exit and a kill end a stream so.
func ParseGoTest(output string) Results {
	p := parser{status: make(map[Verdict]Status), builds: make(map[string]bool)}
	for line := range strings.Lines(output) {
		p.line(strings.TrimRight(line, "\r\n"))
	}
	return p.results()
}

type parser struct {
	// status is keyed by a Verdict without Status; "" means running.
	status map[Verdict]Status
	builds map[string]bool
	text   tail
	// trouble is the first line that names a shortage of the host.
	trouble string
}

func (p *parser) line(line string) {
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
		p.builds[e.ImportPath] = true
	case "start":
	case "run":
		p.see(e, "")
	case "pass":
		p.see(e, Pass)
	case "skip":
		p.see(e, Skip)
	case "fail":
		if e.FailedBuild != "" {
			p.builds[e.FailedBuild] = true
		}
		p.see(e, Fail)
	}
}

// goCommand takes text that the go command or the shell wrote, not a test.
func (p *parser) goCommand(text string) {
	p.text.add(text)
	if p.trouble == "" && hostTrouble(text) {
		p.trouble = strings.TrimSpace(text)
	}
}

// see records a verdict. Events without a test are about the package, which has
// no verdict of its own: build failures are in builds, tests speak for themselves.
func (p *parser) see(e event, s Status) {
	if e.Test == "" {
		return
	}
	k := Verdict{Package: e.Package, Test: e.Test}
	old, known := p.status[k]
	if !known && len(p.status) >= maxVerdicts {
		return
	}
	if !known || rank(s) > rank(old) {
		p.status[k] = s
	}
}

// rank orders statuses from running to the worst.
func rank(s Status) int { return slices.Index([]Status{"", Pass, Skip, Fail}, s) }

func (p *parser) results() Results {
	r := Results{Text: p.text.String(), Trouble: p.trouble}
	for v, s := range p.status {
		if v.Status = s; s == "" {
			v.Status = Fail
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	slices.SortFunc(r.Verdicts, func(a, b Verdict) int {
		if c := strings.Compare(a.Package, b.Package); c != 0 {
			return c
		}
		return strings.Compare(a.Test, b.Test)
	})
	for b := range p.builds {
		r.FailedBuilds = append(r.FailedBuilds, b)
	}
	slices.Sort(r.FailedBuilds)
	return r
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
