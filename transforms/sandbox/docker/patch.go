package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	"golang.org/x/sync/errgroup"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// copies bounds the files that are read from one container at one time.
const copies = 4

// Patch compares the container's own layer with the image below it, so it needs
// no git in the image and believes nothing that runs there.
//
// What .gitignore files name is left out, as git would; so is .git itself,
// binary files (a patch of text cannot hold them), links and special files.
func (s *box) Patch(ctx context.Context) (string, error) {
	patch, err := s.patch(ctx)
	return patch, s.told(ctx, "reading the workspace back", err)
}

func (s *box) patch(ctx context.Context) (string, error) {
	stands, err := s.stands(ctx)
	if err != nil {
		return "", err
	}
	var paths []string
	if stands {
		paths, err = s.changed(ctx)
	} else {
		paths, err = s.below(ctx, "")
	}
	if err != nil {
		return "", err
	}
	below, err := s.provider.images.comparison(ctx, s.image, s.birth)
	if err != nil {
		return "", fmt.Errorf("making a container to compare with: %w", err)
	}
	opened := contents(s.files)
	limit := s.provider.cfg.Limits.ReadBytes
	changes := make([]sandbox.Change, len(paths))
	read, ctx := errgroup.WithContext(ctx)
	read.SetLimit(copies)
	for i, name := range paths {
		read.Go(func() (err error) {
			change := sandbox.Change{Path: name}
			if stands {
				if change.After, err = readOne(ctx, s.provider.api, s.id, path.Join(s.root, name), limit); err != nil {
					return err
				}
			}
			if change.Before = opened[name]; change.Before == nil {
				change.Before, err = readOne(ctx, s.provider.api, below, path.Join(s.root, name), limit)
			}
			changes[i] = change
			return err
		})
	}
	if err := read.Wait(); err != nil {
		return "", err
	}
	total := int64(0)
	changes = slices.DeleteFunc(changes, func(c sandbox.Change) bool { return binary(c.Before) || binary(c.After) })
	for _, c := range changes {
		if c.After != nil {
			total += int64(len(c.After.Text))
		}
	}
	if total > s.provider.cfg.Limits.PatchBytes {
		return "", fmt.Errorf("the changed files have %d bytes: %w", total, sandbox.ErrTooLarge)
	}
	return sandbox.DiffChanges(changes), nil
}

func contents(files []schemas.File) map[string]*sandbox.Content {
	m := make(map[string]*sandbox.Content, len(files))
	for _, f := range files {
		m[f.Path] = &sandbox.Content{Text: f.Content}
	}
	return m
}

// stands tells whether the workspace is still a directory. If not, all of it is
// gone.
func (s *box) stands(ctx context.Context) (bool, error) {
	out, _, err := s.ask(ctx, "_kind "+sandbox.Quote(s.root))
	return string(out) == "d", err
}

func binary(c *sandbox.Content) bool { return c != nil && strings.ContainsRune(c.Text, 0) }

// changed lists the files of the workspace that may differ from what it was
// opened with, by their paths in it.
func (s *box) changed(ctx context.Context) ([]string, error) {
	layer, err := s.provider.api.ContainerDiff(ctx, s.id)
	if err != nil {
		return nil, fmt.Errorf("listing changes: %w", err)
	}
	ignored := &ignores{box: s, read: map[string][]gitignore.Pattern{}}
	directories := parents(layer)
	var paths, doubtful []string
	for _, change := range layer {
		name, ok := strings.CutPrefix(change.Path, s.root+"/")
		if !ok || name == ".git" || strings.HasPrefix(name, ".git/") || directories[change.Path] && change.Kind != container.ChangeDelete {
			continue
		}
		if change.Kind == container.ChangeDelete {
			// A directory is deleted with one entry: ask what was in it.
			below, err := s.below(ctx, name)
			if err != nil {
				return nil, err
			}
			paths = append(paths, below...)
			continue
		}
		skip, err := ignored.match(ctx, name)
		if err != nil {
			return nil, err
		}
		switch {
		case !skip:
			paths = append(paths, name)
		case change.Kind == container.ChangeModify:
			doubtful = append(doubtful, name)
		}
		if len(paths) > s.provider.cfg.Limits.PatchFiles {
			return nil, fmt.Errorf("over %d files changed: %w", s.provider.cfg.Limits.PatchFiles, sandbox.ErrTooLarge)
		}
	}
	// A file that was written into the container and removed again is in no layer.
	gone, err := s.missing(ctx)
	if err != nil {
		return nil, err
	}
	tracked, err := s.tracked(ctx, doubtful)
	if err != nil {
		return nil, err
	}
	paths = slices.Concat(paths, gone, tracked)
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// parents are the directories that hold a change: the layer lists each of them as
// changed too.
func parents(layer []container.FilesystemChange) map[string]bool {
	all := map[string]bool{}
	for _, change := range layer {
		for dir := path.Dir(change.Path); dir != "/" && !all[dir]; dir = path.Dir(dir) {
			all[dir] = true
		}
	}
	return all
}

// tracked are those of names that git has in its index: what is tracked is not
// ignored, whatever .gitignore says. Without git there is none.
func (s *box) tracked(ctx context.Context, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	out, status, err := s.ask(ctx, fmt.Sprintf("(cd -- %s && git -c safe.directory='*' ls-files -z -- %s) </dev/null 2>/dev/null", sandbox.Quote(s.root), words(names...)))
	if err != nil || status != 0 {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// missing lists the files of the spec that are not there any more.
func (s *box) missing(ctx context.Context) ([]string, error) {
	if len(s.files) == 0 {
		return nil, nil
	}
	names := make([]string, len(s.files))
	for i, f := range s.files {
		names[i] = f.Path
	}
	out, _, err := s.ask(ctx, fmt.Sprintf(`(cd -- %s && for f in %s; do [ -f "./$f" ] || printf '%%s\0' "$f"; done)`, sandbox.Quote(s.root), words(names...)))
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// below lists the regular files that the image holds at a path of the workspace:
// itself, or what is in it.
func (s *box) below(ctx context.Context, name string) ([]string, error) {
	id, err := s.provider.images.comparison(ctx, s.image, s.birth)
	if err != nil {
		return nil, fmt.Errorf("making a container to compare with: %w", err)
	}
	var paths []string
	err = s.walkArchive(ctx, id, path.Join(s.root, name), func(inside string, _ *tar.Header, _ io.Reader) error {
		if name == "" && strings.HasPrefix(inside, ".git/") {
			return nil
		}
		paths = append(paths, path.Join(name, inside))
		if len(paths) > s.provider.cfg.Limits.PatchFiles {
			return fmt.Errorf("over %d files removed: %w", s.provider.cfg.Limits.PatchFiles, sandbox.ErrTooLarge)
		}
		return nil
	})
	return paths, err
}

// walkArchive calls f for each regular file at or below a path, which it names
// relative to it ("" for itself).
func (s *box) walkArchive(ctx context.Context, id, at string, f func(inside string, head *tar.Header, content io.Reader) error) error {
	stream, _, err := s.provider.api.CopyFromContainer(ctx, id, at)
	if err != nil {
		return ignoreGone(err)
	}
	defer stream.Close()
	archive := tar.NewReader(stream)
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the archive of %s: %w", at, err)
		}
		if head.Typeflag != tar.TypeReg {
			continue
		}
		_, inside, _ := strings.Cut(path.Clean(head.Name), "/") // the first name is the base of at
		if err := f(inside, head, archive); err != nil {
			return err
		}
	}
}

// Snapshot returns all regular files but those of .git.
func (s *box) Snapshot() ([]schemas.File, error) {
	ctx, cancel := s.call()
	defer cancel()
	limits := s.provider.cfg.Limits
	var files []schemas.File
	total := int64(0)
	err := s.walkArchive(ctx, s.id, s.root, func(inside string, head *tar.Header, content io.Reader) error {
		if strings.HasPrefix(inside, ".git/") {
			return nil
		}
		if total += head.Size; len(files) == limits.PatchFiles || total > limits.PatchBytes {
			return fmt.Errorf("over %d files or %d bytes: %w", limits.PatchFiles, limits.PatchBytes, sandbox.ErrTooLarge)
		}
		data, err := io.ReadAll(content)
		files = append(files, schemas.File{Path: inside, Content: string(data)})
		return err
	})
	slices.SortFunc(files, func(a, b schemas.File) int { return strings.Compare(a.Path, b.Path) })
	return files, s.told(ctx, "reading the workspace", err)
}

// ignores answers by the .gitignore files of the workspace, read when they are
// first needed.
type ignores struct {
	box  *box
	read map[string][]gitignore.Pattern // by directory
}

func (g *ignores) match(ctx context.Context, name string) (bool, error) {
	parts := strings.Split(name, "/")
	var patterns []gitignore.Pattern // those of deeper directories win, so they come last
	for i := range parts {
		dir := path.Join(parts[:i]...)
		if _, ok := g.read[dir]; !ok {
			content, err := readOne(ctx, g.box.provider.api, g.box.id, path.Join(g.box.root, dir, ".gitignore"), g.box.provider.cfg.Limits.ReadBytes)
			if err != nil && !errors.Is(err, sandbox.ErrTooLarge) {
				return false, err
			}
			g.read[dir] = nil
			if content != nil {
				g.read[dir] = parseIgnores(content.Text, parts[:i])
			}
		}
		patterns = append(patterns, g.read[dir]...)
	}
	return gitignore.NewMatcher(patterns).Match(parts, false), nil
}

func parseIgnores(text string, domain []string) []gitignore.Pattern {
	var patterns []gitignore.Pattern
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, gitignore.ParsePattern(line, slices.Clone(domain)))
		}
	}
	return patterns
}
