package taskset

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// diff is a git diff of text files.
type diff []*gitdiff.File

func parseDiff(text string) (diff, error) {
	files, _, err := gitdiff.Parse(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("parsing the diff: %w", err)
	}
	if len(files) == 0 {
		return nil, errors.New("parsing the diff: it changes no file")
	}
	for _, f := range files {
		if f.IsBinary {
			return nil, fmt.Errorf("parsing the diff: %s is binary", cmp.Or(f.NewName, f.OldName))
		}
	}
	return files, nil
}

// after are the paths of the files that are there when the diff is applied.
func (d diff) after() []string {
	var out []string
	for _, f := range d {
		if !f.IsDelete {
			out = append(out, f.NewName)
		}
	}
	return out
}

// reversed is the diff that undoes d. It is what git apply --reverse does, as a text.
func (d diff) reversed() (string, error) {
	var out strings.Builder
	for _, f := range d {
		if f.IsCopy {
			return "", fmt.Errorf("reversing the diff: %s is a copy", f.NewName)
		}
		r := *f
		r.OldName, r.NewName = f.NewName, f.OldName
		r.IsNew, r.IsDelete = f.IsDelete, f.IsNew
		r.OldMode, r.NewMode = f.NewMode, f.OldMode
		if !f.IsNew && !f.IsDelete && f.NewMode == 0 {
			r.OldMode, r.NewMode = f.OldMode, 0 // the one mode of a file that keeps it
		}
		r.OldOIDPrefix, r.NewOIDPrefix = f.NewOIDPrefix, f.OldOIDPrefix
		r.TextFragments = nil
		for _, fragment := range f.TextFragments {
			r.TextFragments = append(r.TextFragments, reversedFragment(fragment))
		}
		out.WriteString(r.String())
	}
	return out.String(), nil
}

func reversedFragment(f *gitdiff.TextFragment) *gitdiff.TextFragment {
	r := *f
	r.OldPosition, r.OldLines, r.NewPosition, r.NewLines = f.NewPosition, f.NewLines, f.OldPosition, f.OldLines
	r.LinesAdded, r.LinesDeleted = f.LinesDeleted, f.LinesAdded
	r.Lines = nil
	var added []gitdiff.Line // wait for the deleted ones, which git writes first
	for _, line := range f.Lines {
		switch line.Op {
		case gitdiff.OpAdd:
			r.Lines = append(r.Lines, gitdiff.Line{Op: gitdiff.OpDelete, Line: line.Line})
		case gitdiff.OpDelete:
			added = append(added, gitdiff.Line{Op: gitdiff.OpAdd, Line: line.Line})
		default:
			r.Lines = append(append(r.Lines, added...), line)
			added = nil
		}
	}
	r.Lines = append(r.Lines, added...)
	return &r
}
