package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// call gives a file method, which has no context, the time of one call.
func (s *box) call() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.provider.ctx, s.provider.cfg.CallTime)
}

// told makes a failure of every error that is not about the path.
func (s *box) told(ctx context.Context, op string, err error) error {
	var about *fs.PathError
	if err == nil || errors.As(err, &about) || errors.Is(err, sandbox.ErrTooLarge) || errors.Is(err, sandbox.ErrOutside) {
		return err
	}
	return failure(ctx, op, s.label, err)
}

// ReadFile returns the content of a regular file.
func (s *box) ReadFile(name string) ([]byte, error) {
	ctx, cancel := s.call()
	defer cancel()
	data, err := s.readFile(ctx, name)
	return data, s.told(ctx, "reading a file", err)
}

func (s *box) readFile(ctx context.Context, name string) ([]byte, error) {
	p, err := s.locate(ctx, "open", name)
	if err != nil {
		return nil, err
	}
	if err := p.regular("open", name); err != nil {
		return nil, err
	}
	if data, ok, err := s.cat(ctx, p.path()); ok || err != nil {
		return data, err
	}
	content, err := readOne(ctx, s.provider.api, s.id, p.path(), s.provider.cfg.Limits.ReadBytes)
	if err != nil {
		return nil, err
	}
	if content == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return []byte(content.Text), nil
}

// A file of up to this size is read and written through the shell, in a
// millisecond; a call of the archive API takes the daemon fifty.
const viaShell = 256 << 10

// cat reads a file by the image's cat. It is not ok when there is none, or the
// file is longer.
func (s *box) cat(ctx context.Context, name string) (data []byte, ok bool, err error) {
	out := &limited{room: viaShell}
	status, err := s.shell.run(ctx, "cat -- "+sandbox.Quote(name)+" </dev/null 2>/dev/null", out)
	if err != nil {
		return nil, false, s.died(ctx, err)
	}
	return out.data, status == 0 && !out.over, nil
}

// print writes a text by the shell's own printf. It is not ok when the text
// cannot be part of a script, or the shell could not write it.
func (s *box) print(ctx context.Context, p place, data []byte) (ok bool, err error) {
	if len(data) > viaShell || bytes.IndexByte(data, 0) >= 0 {
		return false, nil
	}
	script := "printf %s " + sandbox.Quote(string(data)) + " 2>/dev/null >" + sandbox.Quote(p.path())
	if len(p.rest) > 1 {
		script = "mkdir -p -- " + sandbox.Quote(path.Dir(p.path())) + " 2>/dev/null && " + script
	}
	_, status, err := s.ask(ctx, "{ "+script+"; } 2>/dev/null")
	return status == 0, err
}

// regular says why a place is no regular file.
func (p place) regular(op, name string) error {
	err := fs.ErrNotExist
	switch {
	case len(p.rest) > 1 && p.kind != 'n':
		err = fmt.Errorf("%s is no directory: %w", p.rest[0], fs.ErrInvalid)
	case len(p.rest) > 1 || p.kind == 'n':
	case p.kind == 'f' || p.kind == 'x':
		return nil
	default:
		err = fmt.Errorf("not a regular file: %w", fs.ErrInvalid)
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// readOne returns a regular file of a container; nil if the path is something
// else or nothing.
func readOne(ctx context.Context, api engine, id, name string, limit int64) (*sandbox.Content, error) {
	stream, _, err := api.CopyFromContainer(ctx, id, name)
	if errdefs.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	archive := tar.NewReader(stream)
	head, err := archive.Next()
	if err != nil {
		return nil, fmt.Errorf("reading the archive of %s: %w", name, err)
	}
	if head.Typeflag != tar.TypeReg {
		return nil, nil
	}
	if head.Size > limit {
		return nil, fmt.Errorf("%s has %d bytes: %w", name, head.Size, sandbox.ErrTooLarge)
	}
	data, err := io.ReadAll(archive)
	if err != nil {
		return nil, fmt.Errorf("reading the archive of %s: %w", name, err)
	}
	return &sandbox.Content{Text: string(data), Executable: head.Mode&0o100 != 0}, nil
}

// readLink returns the target of a link.
func (s *box) readLink(ctx context.Context, name string) (string, error) {
	stream, stat, err := s.provider.api.CopyFromContainer(ctx, s.id, name)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	return stat.LinkTarget, nil
}

// WriteFile replaces the content of a file; it stays executable if it was.
func (s *box) WriteFile(name string, data []byte) error {
	ctx, cancel := s.call()
	defer cancel()
	return s.told(ctx, "writing a file", s.writeFile(ctx, name, data))
}

func (s *box) writeFile(ctx context.Context, name string, data []byte) error {
	p, err := s.locate(ctx, "open", name)
	if err != nil {
		return err
	}
	missing := len(p.rest) >= 1 && p.kind == 'n'
	if !missing {
		if err := p.regular("open", name); err != nil {
			return err
		}
	}
	if ok, err := s.print(ctx, p, data); ok || err != nil {
		return err
	}
	var archive archive
	for i := range p.rest[:len(p.rest)-1] {
		archive.dir(path.Join(p.rest[:i+1]...))
	}
	archive.file(path.Join(p.rest...), data, p.kind == 'x')
	return s.unpack(ctx, p.dir, &archive)
}

// writeAll writes files with one call; the workspace is new, so no link of an
// agent's is on the way, and those of the image are the task's own.
func (s *box) writeAll(ctx context.Context, files []schemas.File) error {
	var archive archive
	made := map[string]bool{".": true}
	for _, f := range files {
		var above []string
		for dir := path.Dir(f.Path); !made[dir]; dir = path.Dir(dir) {
			made[dir] = true
			above = append(above, dir)
		}
		for _, dir := range slices.Backward(above) {
			archive.dir(dir)
		}
		archive.file(f.Path, []byte(f.Content), false)
	}
	return s.unpack(ctx, s.root, &archive)
}

func (s *box) unpack(ctx context.Context, dir string, a *archive) error {
	content, err := a.close()
	if err != nil {
		return err
	}
	return s.provider.api.CopyToContainer(ctx, s.id, dir, content, container.CopyToContainerOptions{})
}

// archive is a tar file in the making. Its first error is kept.
type archive struct {
	buffer bytes.Buffer
	writer *tar.Writer
	err    error
}

func (a *archive) add(head *tar.Header, data []byte) {
	if a.writer == nil {
		a.writer = tar.NewWriter(&a.buffer)
	}
	head.Format, head.ModTime = tar.FormatPAX, time.Now()
	if a.err == nil {
		a.err = a.writer.WriteHeader(head)
	}
	if a.err == nil {
		_, a.err = a.writer.Write(data)
	}
}

func (a *archive) dir(name string) {
	a.add(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755}, nil)
}

func (a *archive) file(name string, data []byte, executable bool) {
	mode := int64(0o644)
	if executable {
		mode = 0o755
	}
	a.add(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(data))}, data)
}

func (a *archive) close() (io.Reader, error) {
	if a.err == nil {
		a.err = a.writer.Close()
	}
	return &a.buffer, a.err
}

// Remove removes a file, a link or an empty directory.
func (s *box) Remove(name string) error {
	ctx, cancel := s.call()
	defer cancel()
	return s.told(ctx, "removing a file", s.removeFile(ctx, name))
}

func (s *box) removeFile(ctx context.Context, name string) error {
	clean, err := sandbox.Relative(s.inWorkspace(name))
	if err != nil {
		return err
	}
	if clean == "." {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrInvalid}
	}
	above, err := s.locate(ctx, "remove", path.Dir(clean))
	if err != nil {
		return err
	}
	if len(above.rest) > 0 {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	at, err := s.walk(ctx, above.dir, []string{path.Base(clean)})
	if err != nil {
		return err
	}
	target, command := path.Join(above.dir, path.Base(clean)), "rm -f -- "
	switch {
	case len(at.rest) == 0:
		command = "rmdir -- "
	case at.kind == 'n':
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	out, status, err := s.ask(ctx, command+sandbox.Quote(target)+" 2>&1 </dev/null")
	if err == nil && status != 0 {
		err = &fs.PathError{Op: "remove", Path: name, Err: fmt.Errorf("%s: %w", bytes.TrimSpace(out), fs.ErrInvalid)}
	}
	return err
}

// ReadDir lists a directory, sorted by name.
func (s *box) ReadDir(name string) ([]fs.DirEntry, error) {
	ctx, cancel := s.call()
	defer cancel()
	entries, err := s.readDir(ctx, name)
	return entries, s.told(ctx, "listing a directory", err)
}

func (s *box) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	p, err := s.locate(ctx, "open", name)
	switch {
	case err != nil:
		return nil, err
	case len(p.rest) > 0 && p.kind == 'n':
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case len(p.rest) > 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("not a directory: %w", fs.ErrInvalid)}
	}
	out, _, err := s.ask(ctx, "_list "+sandbox.Quote(p.dir))
	if err != nil {
		return nil, err
	}
	var entries []fs.DirEntry
	for text := range strings.SplitSeq(string(out), "\x00") {
		if len(text) > 1 {
			entries = append(entries, entry{kind: text[0], name: text[1:]})
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// entry is a directory entry as the prelude's _list tells it. Size and time are
// not known.
type entry struct {
	kind byte
	name string
}

func (e entry) Name() string               { return e.name }
func (e entry) IsDir() bool                { return e.kind == 'd' }
func (e entry) Type() fs.FileMode          { return e.Mode().Type() }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }
func (e entry) Size() int64                { return 0 }
func (e entry) ModTime() time.Time         { return time.Time{} }
func (e entry) Sys() any                   { return nil }

func (e entry) Mode() fs.FileMode {
	switch e.kind {
	case 'd':
		return fs.ModeDir | 0o755
	case 'x':
		return 0o755
	case 'f':
		return 0o644
	case 'l':
		return fs.ModeSymlink | 0o777
	}
	return fs.ModeIrregular
}
