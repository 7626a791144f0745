package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"millrace/schemas"
)

// diffContext is the number of unchanged lines around a change, git's default.
const diffContext = 3

// Content is what a regular file holds.
type Content struct {
	Text       string
	Executable bool
}

// Change is a file before and after; nil where there is none.
type Change struct {
	Path          string
	Before, After *Content
}

// Diff returns the unified diff, in git's form and sorted by path, that turns
// before into after: [Apply] of it to before gives after, sorted. It is empty
// when they are equal. Renames are shown as a deleted and a new file.
func Diff(before, after []schemas.File) string {
	old, current := contents(before), contents(after)
	var changes []Change
	for path, was := range old {
		c := Change{Path: path, Before: &Content{Text: was}}
		if is, exists := current[path]; exists {
			c.After = &Content{Text: is}
		}
		changes = append(changes, c)
	}
	for path, is := range current {
		if _, ok := old[path]; !ok {
			changes = append(changes, Change{Path: path, After: &Content{Text: is}})
		}
	}
	return DiffChanges(changes)
}

// DiffChanges is Diff for changes that are known; those that change nothing are
// left out. It sorts changes.
func DiffChanges(changes []Change) string {
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	var b strings.Builder
	for _, c := range changes {
		if c.Before == nil && c.After == nil || c.Before != nil && c.After != nil && *c.Before == *c.After {
			continue
		}
		writeChange(&b, c)
	}
	return b.String()
}

func contents(files []schemas.File) map[string]string {
	m := make(map[string]string, len(files))
	for _, f := range files {
		m[f.Path] = f.Content
	}
	return m
}

func writeChange(b *strings.Builder, change Change) {
	a, c := quotePath("a/"+change.Path), quotePath("b/"+change.Path)
	fmt.Fprintf(b, "diff --git %s %s\n", a, c)
	var was, is string
	switch {
	case change.Before == nil:
		fmt.Fprintf(b, "new file mode %s\n", change.After.mode())
		a, is = "/dev/null", change.After.Text
	case change.After == nil:
		fmt.Fprintf(b, "deleted file mode %s\n", change.Before.mode())
		c, was = "/dev/null", change.Before.Text
	default:
		was, is = change.Before.Text, change.After.Text
		if change.Before.Executable != change.After.Executable {
			fmt.Fprintf(b, "old mode %s\nnew mode %s\n", change.Before.mode(), change.After.mode())
		}
	}
	if was == is {
		return // a new mode, or an empty file that comes or goes, has no lines
	}
	fmt.Fprintf(b, "--- %s\n+++ %s\n", a, c)
	x, y := lines(was), lines(is)
	for _, group := range difflib.NewMatcher(x, y).GetGroupedOpCodes(diffContext) {
		first, last := group[0], group[len(group)-1]
		fmt.Fprintf(b, "@@ -%s +%s @@\n", span(first.I1, last.I2), span(first.J1, last.J2))
		for _, op := range group {
			if op.Tag == 'e' {
				writeLines(b, ' ', x[op.I1:op.I2])
				continue
			}
			writeLines(b, '-', x[op.I1:op.I2])
			writeLines(b, '+', y[op.J1:op.J2])
		}
	}
}

// mode is git's mode of a regular file.
func (c *Content) mode() string {
	if c.Executable {
		return "100755"
	}
	return "100644"
}

// lines splits s after each newline; the last line may lack one.
func lines(s string) []string {
	l := strings.SplitAfter(s, "\n")
	if l[len(l)-1] == "" {
		l = l[:len(l)-1]
	}
	return l
}

// span is a hunk's range: 1-based start and length; an empty range starts one
// line earlier, and the length 1 is left out (POSIX diff -u).
func span(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func writeLines(b *strings.Builder, mark byte, lines []string) {
	for _, line := range lines {
		b.WriteByte(mark)
		b.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// quotePath quotes a path as git does when it holds a quote, a backslash, a
// control character or a byte outside ASCII.
func quotePath(path string) string {
	plain := !strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r >= 0x7f })
	if plain {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c < ' ' || c >= 0x7f || c == '"' || c == '\\':
			// Octal for the last two as well: go-gitdiff takes the quote after an
			// escaped backslash for an escaped quote.
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
