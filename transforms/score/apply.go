package score

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// appliers are tried in this order on a patch that does not fit to the letter:
// lines may have moved, then the blobs that the patch names are merged, then the
// context may differ (SWE-bench's order, its fuzz).
var appliers = []string{
	"git apply --whitespace=nowarn " + patchFile,
	"git apply --3way --whitespace=nowarn " + patchFile,
	"patch --batch --forward --fuzz=5 --no-backup-if-mismatch --reject-file=- -p1 -i " + patchFile,
}

// patchFile is where the appliers find the patch, in the workspace.
const patchFile = ".millrace.patch"

// applyTime bounds one applier.
const applyTime = 2 * time.Minute

// apply applies a patch to the workspace: all of it, or the error, for which
// errors.Is(err, sandbox.ErrPatch) holds, and the files it names are as before.
func apply(ctx context.Context, sb sandbox.Sandbox, patch string) error {
	if strings.TrimSpace(patch) == "" {
		return nil
	}
	changes, _, err := gitdiff.Parse(strings.NewReader(patch))
	if err != nil {
		return fmt.Errorf("%w: %w", sandbox.ErrPatch, err)
	}
	before, err := touched(sb, changes)
	if err != nil {
		return err
	}
	after, exact := sandbox.Apply(before, patch)
	if exact == nil {
		if err := replace(sb, changes, after); err != nil {
			return err
		}
		return setModes(ctx, sb, changes)
	}
	return applyLoosely(ctx, sb, patch, changes, before, exact)
}

// applyLoosely has the tools of the image try.
func applyLoosely(ctx context.Context, sb sandbox.Sandbox, patch string, changes []*gitdiff.File, before []schemas.File, exact error) error {
	said := []string{exact.Error()}
	for _, command := range appliers {
		if err := sb.WriteFile(patchFile, []byte(patch)); err != nil {
			return err
		}
		r, err := sb.Exec(ctx, command, applyTime)
		if err != nil {
			return err
		}
		if err := sb.Remove(patchFile); err != nil {
			return err
		}
		if r.ExitCode == 0 {
			return nil
		}
		tool, _, _ := strings.Cut(command, " "+patchFile)
		said = append(said, tool+": "+strings.TrimSpace(r.Output))
		if err := replace(sb, changes, before); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %s", sandbox.ErrPatch, strings.Join(said, "; "))
}

// touched returns those of a patch's files that are there.
func touched(sb sandbox.Sandbox, changes []*gitdiff.File) ([]schemas.File, error) {
	var files []schemas.File
	for name := range names(changes) {
		data, err := sb.ReadFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
		case err != nil:
			return nil, fmt.Errorf("reading %s: %w", name, err)
		default:
			files = append(files, schemas.File{Path: name, Content: string(data)})
		}
	}
	return files, nil
}

// replace makes those of a patch's files be what files says, and no more.
func replace(sb sandbox.Sandbox, changes []*gitdiff.File, files []schemas.File) error {
	is := map[string]string{}
	for _, f := range files {
		is[f.Path] = f.Content
	}
	for name := range names(changes) {
		content, there := is[name]
		var err error
		if there {
			err = sb.WriteFile(name, []byte(content))
		} else if err = sb.Remove(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

// setModes makes files executable, or not, where the patch says so.
func setModes(ctx context.Context, sb sandbox.Sandbox, changes []*gitdiff.File) error {
	for _, f := range changes {
		if f.NewMode == 0 || f.NewMode == f.OldMode || f.IsDelete {
			continue
		}
		mode := "a-x"
		if f.NewMode&0o100 != 0 {
			mode = "a+x"
		} else if f.IsNew {
			continue
		}
		r, err := sb.Exec(ctx, "chmod "+mode+" -- "+sandbox.Quote(f.NewName), applyTime)
		if err != nil {
			return err
		}
		if r.ExitCode != 0 {
			return fmt.Errorf("%w: mode of %s: %s", sandbox.ErrPatch, f.NewName, strings.TrimSpace(r.Output))
		}
	}
	return nil
}

// names are the files of a patch, by their names before and after.
func names(changes []*gitdiff.File) map[string]bool {
	all := map[string]bool{}
	for _, f := range changes {
		all[f.OldName], all[f.NewName] = true, true
	}
	delete(all, "")
	return all
}
