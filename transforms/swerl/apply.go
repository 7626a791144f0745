package swerl

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// Apply makes the edits, one after the other, and returns the files sorted by path. An
// edit of a path that no file has makes a file, if its search is empty.
//
// An edit replaces every place where its search stands at the start of a line. It is
// [ErrFormat] if there is none, or if it replaces a text by itself.
func Apply(files []schemas.File, edits []Edit) ([]schemas.File, error) {
	contents := make(map[string]string, len(files))
	for _, f := range files {
		contents[f.Path] = f.Content
	}
	for i, e := range edits {
		if e.Search == e.Replace {
			return nil, fmt.Errorf("%w: edit %d, of %s, replaces a text by itself", ErrFormat, i+1, e.Path)
		}
		// The newline in front stands for the start of the file, which is one of a line.
		content, search := "\n"+contents[e.Path], "\n"+e.Search
		if !strings.Contains(content, search) {
			return nil, fmt.Errorf("%w: edit %d, of %s, searches for what is not there", ErrFormat, i+1, e.Path)
		}
		contents[e.Path] = strings.ReplaceAll(content, search, "\n"+e.Replace)[1:]
	}
	edited := make([]schemas.File, 0, len(contents))
	for path, content := range contents {
		edited = append(edited, schemas.File{Path: path, Content: content})
	}
	slices.SortFunc(edited, func(a, b schemas.File) int { return cmp.Compare(a.Path, b.Path) })
	return edited, nil
}

// Patch returns the unified diff, in git's form, that an answer makes of files: what a
// single-turn agent leaves behind. [sandbox.Apply] takes it to the same files.
//
// Its error is [ErrFormat], for the reasons of [Answer] and [Apply], and for a path of
// no file, outside of the workspace or otherwise, which no diff can tell.
func Patch(files []schemas.File, answer string) (string, error) {
	edits, err := Answer(answer)
	if err != nil {
		return "", err
	}
	for i, e := range edits {
		if !fs.ValidPath(e.Path) || e.Path == "." || strings.ContainsRune(e.Path, 0) {
			return "", fmt.Errorf("%w: edit %d: %q is no path below the workspace", ErrFormat, i+1, e.Path)
		}
	}
	edited, err := Apply(files, edits)
	if err != nil {
		return "", err
	}
	return sandbox.Diff(files, edited), nil
}
