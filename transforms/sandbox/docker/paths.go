package docker

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"millrace/transforms/sandbox"
)

// place is where a path of the workspace leads in the container.
type place struct {
	// dir is the real path of the deepest directory on the way that exists, and
	// rest what follows it: one name, or several when directories are missing.
	dir  string
	rest []string
	// kind is what stands at the first name of rest, as the prelude tells it; 'd'
	// when there is no rest.
	kind byte
}

// path is the place's real path.
func (p place) path() string { return path.Join(append([]string{p.dir}, p.rest...)...) }

// maxLinks bounds the links that one path may lead over.
const maxLinks = 40

// locate follows a path of the workspace, over links that stay inside of it.
//
// Nothing runs in the container between two calls, so what it finds is still so
// when the file is read or written.
func (s *box) locate(ctx context.Context, op, name string) (place, error) {
	clean, err := sandbox.Relative(s.inWorkspace(name))
	if err != nil {
		return place{}, err
	}
	bad := func(err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }
	at, names := s.root, split(clean)
	for range maxLinks {
		p, err := s.walk(ctx, at, names)
		if err != nil {
			return place{}, err
		}
		if p.dir != s.root && !strings.HasPrefix(p.dir, s.root+"/") {
			return place{}, bad(sandbox.ErrOutside)
		}
		if p.kind != 'l' {
			return p, nil
		}
		target, err := s.readLink(ctx, path.Join(p.dir, p.rest[0]))
		if err != nil {
			return place{}, err
		}
		if at = p.dir; path.IsAbs(target) {
			at = "/"
		}
		names = append(split(strings.Trim(target, "/")), p.rest[1:]...)
	}
	return place{}, bad(fmt.Errorf("over %d links: %w", maxLinks, fs.ErrInvalid))
}

// inWorkspace puts a path below the task's own workdir in terms of [sandbox.Root],
// which is what Relative knows.
func (s *box) inWorkspace(name string) string {
	for _, root := range []string{s.workdir, s.root} {
		if rest, ok := strings.CutPrefix(path.Clean(name), root); ok && (rest == "" || rest[0] == '/') {
			return sandbox.Root + rest
		}
	}
	return name
}

func split(clean string) []string {
	if clean == "." || clean == "" {
		return nil
	}
	return strings.Split(clean, "/")
}

// walk asks the shell how far a path goes.
func (s *box) walk(ctx context.Context, at string, names []string) (place, error) {
	out, status, err := s.ask(ctx, "_locate "+words(append([]string{at}, names...)...))
	if err != nil {
		return place{}, err
	}
	found := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	if status != 0 || len(found[0]) == 0 {
		return place{}, &fs.PathError{Op: "open", Path: at, Err: fs.ErrNotExist}
	}
	p := place{kind: 'd'}
	for i, f := range found {
		if f[0] == 'd' && len(f) > 1 {
			p.dir, p.rest = string(f[1:]), names[min(i, len(names)):]
			continue
		}
		p.kind = f[0]
	}
	if p.kind == 'd' && len(p.rest) == 1 { // the last name is a directory
		p.dir, p.rest = path.Join(p.dir, p.rest[0]), nil
	}
	return p, nil
}

// ask runs functions of the prelude and returns what they print.
func (s *box) ask(ctx context.Context, script string) ([]byte, int, error) {
	ctx, cancel := context.WithTimeout(ctx, s.provider.cfg.CallTime)
	defer cancel()
	out := &limited{room: maxAnswer}
	status, err := s.shell.run(ctx, script, out)
	if err != nil {
		return nil, 0, s.died(ctx, err)
	}
	if out.over {
		return nil, 0, fmt.Errorf("an answer of more than %d bytes: %w", maxAnswer, sandbox.ErrTooLarge)
	}
	return out.data, status, nil
}

// maxAnswer bounds what is read of a directory's listing or a search.
const maxAnswer = 8 << 20

// limited keeps what fits.
type limited struct {
	data []byte
	room int
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if n := l.room - len(l.data); len(p) > n {
		l.over = true
		l.data = append(l.data, p[:max(n, 0)]...)
		return len(p), nil
	}
	l.data = append(l.data, p...)
	return len(p), nil
}
