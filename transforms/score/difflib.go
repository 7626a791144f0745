package score

import (
	"fmt"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// unifiedDiff is SWE-RL's form of a change: the hunks, three lines of context, without
// file names, and "" for equal texts. Line ends are not part of it, so a change of line
// ends alone is none.
func unifiedDiff(before, after string) string {
	a, b := splitLines(before), splitLines(after)
	var out []string
	for _, group := range difflib.NewMatcher(a, b).GetGroupedOpCodes(3) {
		first, last := group[0], group[len(group)-1]
		out = append(out, fmt.Sprintf("@@ -%s +%s @@", hunkRange(first.I1, last.I2), hunkRange(first.J1, last.J2)))
		for _, c := range group {
			if c.Tag == 'e' {
				out = appendLines(out, " ", a[c.I1:c.I2])
				continue
			}
			out = appendLines(out, "-", a[c.I1:c.I2])
			out = appendLines(out, "+", b[c.J1:c.J2])
		}
	}
	return strings.Join(out, "\n")
}

func appendLines(out []string, prefix string, lines []string) []string {
	for _, l := range lines {
		out = append(out, prefix+l)
	}
	return out
}

// hunkRange is a range of lines in a hunk's head: lines count from 1, and an empty
// range stands behind the line it names.
func hunkRange(start, stop int) string {
	switch n := stop - start; n {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	default:
		return fmt.Sprintf("%d,%d", start+1, n)
	}
}

// splitLines cuts a text where Python's str.splitlines does, without the ends.
func splitLines(s string) []string {
	var lines []string
	for s != "" {
		i := strings.IndexFunc(s, endsLine)
		if i < 0 {
			return append(lines, s)
		}
		lines = append(lines, s[:i])
		rest := strings.TrimPrefix(s[i:], "\r\n")
		if len(rest) == len(s)-i {
			_, rest = firstRune(rest)
		}
		s = rest
	}
	return lines
}

func endsLine(r rune) bool { return strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r) }

func firstRune(s string) (first, rest string) {
	for i := range s {
		if i > 0 {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// ratio is difflib's SequenceMatcher(None, a, b, autojunk=False).ratio() over the
// characters of two texts: twice the matching ones by all. It is not symmetric.
func ratio(a, b string) float64 {
	return difflib.NewMatcherWithJunk(strings.Split(a, ""), strings.Split(b, ""), false, nil).Ratio()
}
