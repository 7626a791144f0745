package swerl

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// ErrFormat marks an answer that cannot be read or whose edits do not fit the files: it
// is the model's doing, and worth -1.
var ErrFormat = errors.New("bad format")

// Edit replaces a piece of a file. Both texts are whole lines without the last line's
// end, and Search is found where a line begins, though not only where one ends.
type Edit struct {
	// Path is what stands behind "### ", to the end of the line: spaces and a carriage
	// return are part of it.
	Path            string
	Search, Replace string
}

// block is an edit as it is written. A dot is no line's end.
var block = regexp.MustCompile("```.*?\n### (.*)\n<<<<<<< SEARCH\n([\\s\\S]*?)\n=======\n([\\s\\S]*?)\n>>>>>>> REPLACE\n```")

// tags are the four marks of the answer's two parts.
var tags = [...]string{thinkStart, thinkEnd, solutionStart, solutionEnd}

const (
	thinkStart    = "<think>"
	thinkEnd      = "</think>"
	solutionStart = "<solution>"
	solutionEnd   = "</solution>"
)

// Answer reads the edits of what a model has said, in their order, at least one. Each of
// the four tags must stand in it exactly once, and there must be a thought between the
// first two. As published, nothing is asked of the order of the two parts, and what
// stands outside of them does not count.
//
// Two blocks in one fence are one edit, which replaces by the text of the second; a
// search or a replacement of nothing is an empty line.
//
// Its error is ErrFormat.
func Answer(output string) ([]Edit, error) {
	for _, tag := range tags {
		if n := strings.Count(output, tag); n != 1 {
			return nil, fmt.Errorf("%w: %s stands in the answer %d times, want once", ErrFormat, tag, n)
		}
	}
	if Strip(between(output, thinkStart, thinkEnd)) == "" {
		return nil, fmt.Errorf("%w: the thought is empty", ErrFormat)
	}
	found := block.FindAllStringSubmatch(Strip(between(output, solutionStart, solutionEnd)), -1)
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: no SEARCH/REPLACE block in the solution", ErrFormat)
	}
	edits := make([]Edit, len(found))
	for i, f := range found {
		edits[i] = Edit{Path: f[1], Search: f[2], Replace: f[3]}
	}
	return edits, nil
}

// between is what stands behind the start, up to the first end behind it, or to the
// text's end.
func between(s, start, end string) string {
	_, rest, _ := strings.Cut(s, start)
	inside, _, _ := strings.Cut(rest, end)
	return inside
}

// Strip trims what Python's str.strip does: to Unicode's white space it adds four
// separators of ASCII.
func Strip(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || '\x1c' <= r && r <= '\x1f' })
}
