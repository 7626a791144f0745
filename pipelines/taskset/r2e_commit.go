package taskset

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// parsedCommit is R2E-Gym's form of the commit that repairs the fault, as far as the
// gold patch needs it (commit_models/diff_classes.py).
type parsedCommit struct {
	FileDiffs []fileDiff `json:"file_diffs"`
	Old       string     `json:"old_commit_hash"`
}

type fileDiff struct {
	Header struct {
		File filePath `json:"file"`
		Misc string   `json:"misc_line"` // mode lines
	} `json:"header"`
	Index *struct {
		Old  string `json:"old_commit_hash"`
		New  string `json:"new_commit_hash"`
		Mode string `json:"mode"`
	} `json:"index_line"`
	Binary bool      `json:"is_binary_file"`
	Minus  *filePath `json:"minus_file"`
	Plus   *filePath `json:"plus_file"`
	Hunks  []hunk    `json:"hunks"`
}

type hunk struct {
	Descriptor struct {
		Old     hunkRange `json:"old_range"`
		New     hunkRange `json:"new_range"`
		Section string    `json:"section"`
	} `json:"descriptor"`
	Group struct {
		Lines []hunkLine `json:"all_lines"`
	} `json:"line_group"`
}

type hunkLine struct {
	Content string `json:"content"`
	Type    string `json:"type"`
}

type filePath struct {
	Path string `json:"path"`
}

type hunkRange struct {
	Start  int  `json:"start"`
	Length *int `json:"length"` // nil is 1, and is not written
}

func (r hunkRange) String() string {
	if r.Length == nil {
		return fmt.Sprint(r.Start)
	}
	return fmt.Sprintf("%d,%d", r.Start, *r.Length)
}

func (r hunkRange) lines() int {
	if r.Length == nil {
		return 1
	}
	return *r.Length
}

// repair is what the commit says: the gold patch, and the commit the image is at.
type repair struct{ patch, base string }

// r2eCommit rebuilds the gold patch: the hunks of the Python files that hold no
// tests, which is what R2E-Gym takes for it.
func r2eCommit(r *row) repair {
	const column = "parsed_commit_content"
	if !r.has(column) {
		r.fail(column, errMissing)
		return repair{}
	}
	var commit parsedCommit
	r.object(column, &commit)
	var patch strings.Builder
	for i, f := range commit.FileDiffs {
		name := f.Header.File.Path
		if !strings.HasSuffix(name, ".py") || isTestFile(name) {
			continue
		}
		if err := f.write(&patch); err != nil {
			r.fail(fmt.Sprintf("%s.file_diffs[%d]", column, i), err)
		}
	}
	if patch.Len() == 0 {
		r.fail(column, errors.New("the commit changes no Python file outside of the tests"))
	}
	base := commit.Old
	if !isCommit(base) {
		base = ""
	}
	return repair{patch: patch.String(), base: base}
}

// isTestFile is R2E-Gym's own test of a path.
func isTestFile(name string) bool {
	if strings.HasSuffix(name, "_test.py") || strings.HasPrefix(path.Base(name), "test_") {
		return true
	}
	return strings.HasPrefix(name, "test_") || slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == "tests" || part == "Tests" || part == "test" || part == "Test"
	})
}

// lineMarks are how the lines of a hunk begin.
var lineMarks = map[string]string{"context": " ", "added": "+", "deleted": "-", "note": `\ `}

// write writes the file's part of a git diff.
func (f fileDiff) write(out *strings.Builder) error {
	if f.Binary {
		return errors.New("a binary file has no text to patch")
	}
	fmt.Fprintf(out, "diff --git a/%[1]s b/%[1]s\n", f.Header.File.Path)
	if f.Header.Misc != "" {
		fmt.Fprintln(out, f.Header.Misc)
	}
	if f.Index != nil {
		fmt.Fprintln(out, strings.TrimSuffix(fmt.Sprintf("index %s..%s %s", f.Index.Old, f.Index.New, f.Index.Mode), " "))
	}
	if len(f.Hunks) > 0 && (f.Minus == nil || f.Plus == nil) {
		return errors.New("hunks without the files they are of")
	}
	if f.Minus != nil && f.Plus != nil {
		fmt.Fprintf(out, "--- %s\n+++ %s\n", f.Minus.Path, f.Plus.Path)
	}
	for i, h := range f.Hunks {
		if err := h.write(out); err != nil {
			return fmt.Errorf("hunks[%d]: %w", i, err)
		}
	}
	return nil
}

// write writes a hunk with as many lines as its head says. The text from which
// R2E-Gym made the commit ends with a newline, and what stands behind that newline
// has become an empty line of context of the last hunk.
func (h hunk) write(out *strings.Builder) error {
	head := fmt.Sprintf("@@ -%s +%s @@ %s", h.Descriptor.Old, h.Descriptor.New, h.Descriptor.Section)
	fmt.Fprintln(out, strings.TrimSuffix(head, " "))
	before, after := h.Descriptor.Old.lines(), h.Descriptor.New.lines()
	for _, line := range h.Group.Lines {
		mark, known := lineMarks[line.Type]
		if !known {
			return fmt.Errorf("a line of type %q", line.Type)
		}
		if before == 0 && after == 0 && line == (hunkLine{Type: "context"}) {
			continue
		}
		if mark == " " || mark == "-" {
			before--
		}
		if mark == " " || mark == "+" {
			after--
		}
		out.WriteString(mark + line.Content + "\n")
	}
	if before != 0 || after != 0 {
		return fmt.Errorf("the head promises %d more lines before and %d after", before, after)
	}
	return nil
}

// isCommit tells whether text is the full hash of a commit.
func isCommit(text string) bool {
	return len(text) == 40 && strings.Trim(text, "0123456789abcdef") == ""
}
