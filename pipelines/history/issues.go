package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxIssueBytes bounds one line of a file of issues; a forge's own limit of a body is
// 64 KiB.
const maxIssueBytes = 4 << 20

// ReadIssues reads one issue a line, as JSON. A line that is none is in bad, by name
// and line, and the others go through. Other keys than number, title and body are
// passed over. The error is that of r.
func ReadIssues(name string, r io.Reader) (issues map[int]Issue, bad []error, err error) {
	issues = map[int]Issue{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxIssueBytes)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		var issue Issue
		problem := json.Unmarshal(text, &issue)
		switch {
		case problem != nil:
		case issue.Number <= 0:
			problem = errors.New("number: missing or below 1")
		case issue.Title == "" && issue.Body == "":
			problem = errors.New("title and body are missing")
		case issues[issue.Number].Number != 0:
			problem = fmt.Errorf("number: %d is also that of an earlier line", issue.Number)
		}
		if problem != nil {
			bad = append(bad, fmt.Errorf("%s:%d: %w", name, n, problem))
			continue
		}
		issues[issue.Number] = issue
	}
	if err := lines.Err(); err != nil {
		return issues, bad, fmt.Errorf("reading issues: %s:%d: %w", name, n+1, err)
	}
	return issues, bad, nil
}
