package difflib

import (
	"context"
	"fmt"
	"strings"
)

// contextLines is the number of equal lines around a change.
const contextLines = 3

// Hunks is what CPython's unified_diff(a, b, n=3, lineterm="") writes behind its two
// heads about the lines (str.splitlines) of two texts, joined by newlines; "" for equal
// lines. Line ends are not part of it: a change of line ends alone is none.
//
// Errors are the cause of ctx's end, and [ErrTooMuch].
func Hunks(ctx context.Context, before, after string) (string, error) {
	if before == after {
		return "", nil
	}
	a, b := splitLines(before), splitLines(after)
	meter := newMeter(ctx)
	if err := meter.admit("lines", len(a), len(b)); err != nil {
		return "", err
	}
	numbers := map[string]int32{}
	x, y := number(numbers, a), number(numbers, b)
	m, err := newMatcher(meter, x, y, len(numbers), popular(y, len(numbers)))
	if err != nil {
		return "", err
	}
	blocks, err := m.blocks()
	if err != nil {
		return "", err
	}
	var out []string
	for _, hunk := range hunks(changes(blocks, len(a), len(b))) {
		out = hunk.write(out, a, b)
	}
	return strings.Join(out, "\n"), nil
}

// change is a[alo:ahi], replaced by b[blo:bhi]; one of the two may be empty.
type change struct{ alo, ahi, blo, bhi int }

// changes are what lies between the blocks of texts of two lengths.
func changes(blocks []block, a, b int) []change {
	var between []change
	end := block{}
	for _, next := range append(blocks, block{a, b, 0}) {
		c := change{end.a + end.size, next.a, end.b + end.size, next.b}
		if c.alo < c.ahi || c.blo < c.bhi {
			between = append(between, c)
		}
		end = next
	}
	return between
}

// hunk is a number of changes that are at most twice contextLines apart.
type hunk []change

func hunks(changes []change) []hunk {
	var all []hunk
	for i, c := range changes {
		if i == 0 || c.alo-changes[i-1].ahi > 2*contextLines {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], c)
	}
	return all
}

// write appends the hunk's head and lines.
func (h hunk) write(out, a, b []string) []string {
	first, last := h[0], h[len(h)-1]
	before := min(contextLines, first.alo, first.blo)
	after := min(contextLines, len(a)-last.ahi, len(b)-last.bhi)
	out = append(out, fmt.Sprintf("@@ -%s +%s @@",
		span(first.alo-before, last.ahi+after), span(first.blo-before, last.bhi+after)))
	equal := first.alo - before
	for _, c := range h {
		out = prefixed(out, " ", a[equal:c.alo])
		out = prefixed(out, "-", a[c.alo:c.ahi])
		out = prefixed(out, "+", b[c.blo:c.bhi])
		equal = c.ahi
	}
	return prefixed(out, " ", a[equal:last.ahi+after])
}

func prefixed(out []string, prefix string, lines []string) []string {
	for _, line := range lines {
		out = append(out, prefix+line)
	}
	return out
}

// span is a range of lines in a hunk's head. Lines count from 1, and an empty range
// stands behind the line that it names.
func span(start, stop int) string {
	switch n := stop - start; n {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	default:
		return fmt.Sprintf("%d,%d", start+1, n)
	}
}
