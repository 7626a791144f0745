package score

import (
	"context"
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"millrace/transforms/swerl"
)

// DiffSimilarity compares two unified diffs as they are, without the files: SWE-RL's
// reward for models that write diffs (calculate_reward_unidiff). It is the mean over the
// files of either, as in [Similarity], of the ratio of their hunks with the hunks' heads
// and section headings; 1 where neither diff has a file, and never negative. A diff that
// cannot be parsed has no files. Binary files do not count. A renamed or copied file
// counts under its old path, with a line that tells both; of several changes of one
// path the last counts; a change without hunks is like no other, not even its equal.
//
// Upstream parses with Python's unidiff (0.7.5), this with go-gitdiff. What they take
// apart differently, and what that means here:
//   - a hunk without changes, a hunk with old lines in a new file, and names of git's
//     head that contradict those below it: refused by go-gitdiff, so the whole diff has
//     no files;
//   - a diff that is cut off in a head, or in the mark of a missing line end: refused
//     too, where unidiff takes what stands before (cut off in a hunk, both refuse it);
//   - an empty line behind a file without hunks, such as at the end of a mailed patch:
//     taken, where unidiff 0.7.5 refuses the whole diff;
//   - a section heading is trimmed, where unidiff keeps what stands at its ends, such as
//     the carriage return of a file with such line ends;
//   - in a diff of git a path loses its first directory, where unidiff takes away "a/"
//     and "b/" only, and a quoted path is unquoted;
//   - in a diff that is not git's, a rename counts under its new path, and a time of the
//     epoch makes a file new, where unidiff looks at the names alone.
//
// Its error is difflib.ErrTooMuch: no reward.
func DiffSimilarity(oracle, predicted string) (float64, error) {
	return likeness(context.Background(), hunksOf(predicted), hunksOf(oracle))
}

// hunksOf are the hunks of a diff as unidiff writes them, by path.
func hunksOf(diff string) fileDiffs {
	files, _, err := gitdiff.Parse(strings.NewReader(diff))
	if err != nil {
		return nil // published so: what cannot be parsed changes nothing
	}
	name := func(name string) string { return name }
	if !strings.HasPrefix(diff, gitHead) && !strings.Contains(diff, "\n"+gitHead) {
		name = withoutSide
	}
	diffs := fileDiffs{}
	for _, f := range files {
		if f.IsBinary {
			continue
		}
		path, parts := f.OldName, []string{}
		switch {
		case f.IsNew:
			path = f.NewName
		case !f.IsDelete && f.OldName != f.NewName:
			parts = append(parts, fmt.Sprintf("rename from %s to %s", f.OldName, f.NewName))
		}
		for _, hunk := range f.TextFragments {
			parts = append(parts, swerl.Strip(writeHunk(hunk)))
		}
		diffs[name(path)] = swerl.Strip(strings.Join(parts, "\n"))
	}
	return diffs
}

// gitHead starts a file in a diff of git, whose names go-gitdiff gives without the side
// that they are of.
const gitHead = "diff --git "

// withoutSide is a name without the side.
func withoutSide(name string) string {
	if side, rest, ok := strings.Cut(name, "/"); ok && (side == "a" || side == "b") {
		return rest
	}
	return name
}

// writeHunk writes a hunk as unidiff does: both lengths in the head, even if 1.
func writeHunk(h *gitdiff.TextFragment) string {
	var b strings.Builder
	fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@", h.OldPosition, h.OldLines, h.NewPosition, h.NewLines)
	if h.Comment != "" {
		b.WriteString(" " + h.Comment)
	}
	b.WriteByte('\n')
	for _, line := range h.Lines {
		b.WriteString(line.String())
		if line.NoEOL() {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
	return b.String()
}
