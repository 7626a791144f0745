package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"millrace/schemas"
)

// ErrPatch marks a patch that is malformed or does not fit the files.
var ErrPatch = errors.New("patch does not apply")

// Apply returns files with a unified diff in git's form applied, sorted by
// path. The lines of context must match exactly. All or nothing: an error, for
// which errors.Is(err, [ErrPatch]) holds, names the file.
func Apply(files []schemas.File, patch string) ([]schemas.File, error) {
	changes, _, err := gitdiff.Parse(strings.NewReader(patch))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPatch, err)
	}
	if len(changes) == 0 && strings.TrimSpace(patch) != "" {
		return nil, fmt.Errorf("%w: no file header found", ErrPatch)
	}
	tree := contents(files)
	for _, change := range changes {
		if err := applyFile(tree, change); err != nil {
			name := change.NewName
			if name == "" {
				name = change.OldName
			}
			return nil, fmt.Errorf("%w: %s: %w", ErrPatch, name, err)
		}
	}
	result := make([]schemas.File, 0, len(tree))
	for path, content := range tree {
		result = append(result, schemas.File{Path: path, Content: content})
	}
	slices.SortFunc(result, func(a, b schemas.File) int { return strings.Compare(a.Path, b.Path) })
	return result, nil
}

func applyFile(tree map[string]string, change *gitdiff.File) error {
	if change.IsBinary {
		return errors.New("binary patches are not supported")
	}
	content, exists := tree[change.OldName]
	switch {
	case change.IsNew:
		if _, taken := tree[change.NewName]; taken {
			return errors.New("the new file exists already")
		}
		content = ""
	case !exists:
		return fmt.Errorf("no file %q", change.OldName)
	}
	var out bytes.Buffer
	if err := gitdiff.Apply(&out, strings.NewReader(content), change); err != nil {
		return err
	}
	if change.IsDelete {
		if out.Len() > 0 {
			return errors.New("the deleted file has other content")
		}
		delete(tree, change.OldName)
		return nil
	}
	path, err := Relative(change.NewName)
	if err != nil {
		return err
	}
	if path == "." || path != change.NewName {
		return fmt.Errorf("bad file name %q", change.NewName)
	}
	if change.IsRename {
		delete(tree, change.OldName)
	}
	tree[path] = out.String()
	return nil
}
