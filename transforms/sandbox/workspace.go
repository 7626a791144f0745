package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"millrace/schemas"
)

// workspace is a directory of the host seen through os.Root, which follows no
// link out of it, whatever the commands that ran in it left there.
type workspace struct {
	dir    string
	root   *os.Root
	owner  int // user and group of what is made here, -1 to leave it
	limits Limits
	opened []schemas.File // what Open was given
}

func openWorkspace(dir string, owner int, limits Limits) (*workspace, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	w := &workspace{dir: dir, root: root, owner: owner, limits: limits}
	if err := w.own("."); err != nil {
		root.Close()
		return nil, err
	}
	return w, nil
}

func (w *workspace) own(name string) error {
	if w.owner < 0 {
		return nil
	}
	return w.root.Lchown(name, w.owner, w.owner)
}

// Relative returns name as a clean slash-separated path relative to the
// workspace root, "." for the root itself. Name is relative to it or absolute
// below [Root].
func Relative(name string) (string, error) {
	clean := path.Clean(name)
	if path.IsAbs(clean) {
		if clean == Root {
			return ".", nil
		}
		rest, ok := strings.CutPrefix(clean, Root+"/")
		if !ok {
			return "", &fs.PathError{Op: "open", Path: name, Err: ErrOutside}
		}
		clean = rest
	}
	if strings.ContainsRune(clean, 0) || !fs.ValidPath(clean) {
		if clean == ".." || strings.HasPrefix(clean, "../") {
			return "", &fs.PathError{Op: "open", Path: name, Err: ErrOutside}
		}
		if strings.ContainsRune(clean, 0) {
			return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
		}
	}
	return clean, nil
}

// outside marks errors of os.Root that say a link left the workspace; package
// os does not export the error it wraps.
func outside(err error) error {
	if err != nil && strings.HasSuffix(err.Error(), "path escapes from parent") {
		return fmt.Errorf("%w (%w)", ErrOutside, err)
	}
	return err
}

// try runs f and, when a command has taken permissions away from name or a
// directory above it, gives them back and runs f again.
func (w *workspace) try(name string, f func() error) error {
	err := f()
	if !errors.Is(err, fs.ErrPermission) {
		return outside(err)
	}
	for i := range name {
		if name[i] == '/' {
			w.root.Chmod(name[:i], 0o755) // if it fails, f tells
		}
	}
	if info, statErr := w.root.Stat(name); statErr == nil {
		w.root.Chmod(name, info.Mode().Perm()|0o700)
	}
	return outside(f())
}

// open opens a regular file. It never blocks, as opening a named pipe would.
func (w *workspace) open(name string, flag int) (*os.File, error) {
	var file *os.File
	err := w.try(name, func() (err error) {
		file, err = w.root.OpenFile(name, flag|syscall.O_NONBLOCK, 0o644)
		return err
	})
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("not a regular file: %w", fs.ErrInvalid)}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func (w *workspace) ReadFile(name string) ([]byte, error) {
	name, err := Relative(name)
	if err != nil {
		return nil, err
	}
	file, err := w.open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, w.limits.SnapshotBytes+1))
	if err == nil && int64(len(data)) > w.limits.SnapshotBytes {
		err = &fs.PathError{Op: "read", Path: name, Err: ErrTooLarge}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

func (w *workspace) WriteFile(name string, data []byte) error {
	name, err := Relative(name)
	if err != nil {
		return err
	}
	if err := w.mkdirs(path.Dir(name)); err != nil {
		return err
	}
	file, err := w.open(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	if err := w.fill(file, data); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

func (w *workspace) fill(file *os.File, data []byte) error {
	if w.owner >= 0 {
		if err := file.Chown(w.owner, w.owner); err != nil {
			return err
		}
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := io.Copy(file, bytes.NewReader(data))
	return err
}

func (w *workspace) mkdirs(name string) error {
	if name == "." {
		return nil
	}
	err := w.try(name, func() error {
		info, err := w.root.Stat(name)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
		}
		return err
	})
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := w.mkdirs(path.Dir(name)); err != nil {
		return err
	}
	err = w.try(name, func() error { return w.root.Mkdir(name, 0o755) })
	if err != nil {
		return err
	}
	return w.own(name)
}

func (w *workspace) Remove(name string) error {
	name, err := Relative(name)
	if err != nil {
		return err
	}
	return w.try(name, func() error { return w.root.Remove(name) })
}

func (w *workspace) ReadDir(name string) ([]fs.DirEntry, error) {
	name, err := Relative(name)
	if err != nil {
		return nil, err
	}
	var entries []fs.DirEntry
	err = w.try(name, func() error {
		dir, err := w.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // never waits on a named pipe
		if err != nil {
			return err
		}
		defer dir.Close()
		entries, err = dir.ReadDir(w.limits.SnapshotFiles + 1)
		if err == io.EOF {
			err = nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(entries) > w.limits.SnapshotFiles {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: ErrTooLarge}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// Patch compares with what Open was given.
func (w *workspace) Patch(context.Context) (string, error) {
	after, err := w.Snapshot()
	if err != nil {
		return "", err
	}
	return Diff(w.opened, after), nil
}

// ImageDigest is empty: a directory of the host has no image.
func (w *workspace) ImageDigest() string { return "" }

func (w *workspace) Snapshot() ([]schemas.File, error) {
	var files []schemas.File
	entries, size := 0, int64(0)
	var walk func(dir string) error
	walk = func(dir string) error {
		list, err := w.ReadDir(dir)
		if err != nil {
			return err
		}
		entries += len(list)
		for _, e := range list {
			if entries > w.limits.SnapshotFiles || size > w.limits.SnapshotBytes {
				return fmt.Errorf("taking a snapshot of more than %d files or %d bytes: %w",
					w.limits.SnapshotFiles, w.limits.SnapshotBytes, ErrTooLarge)
			}
			name := path.Join(dir, e.Name())
			switch {
			case e.IsDir():
				if err := walk(name); err != nil {
					return err
				}
			case e.Type().IsRegular():
				data, err := w.ReadFile(name)
				if err != nil {
					return err
				}
				size += int64(len(data))
				files = append(files, schemas.File{Path: name, Content: string(data)})
			}
		}
		return nil
	}
	if err := walk("."); err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b schemas.File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// remove deletes the workspace, directories without permissions included.
func (w *workspace) remove() error {
	w.root.Close()
	return removeAll(w.dir)
}

// removeAll is os.RemoveAll that first opens the directories which a command
// closed. It follows no links.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, err := os.OpenRoot(path.Dir(dir))
	if err != nil {
		return err
	}
	defer root.Close()
	var opened func(name string)
	opened = func(name string) {
		root.Chmod(name, 0o700) // what cannot be opened fails the removal below
		d, err := root.Open(name)
		if err != nil {
			return
		}
		defer d.Close()
		list, err := d.ReadDir(-1)
		if err != nil {
			return
		}
		for _, e := range list {
			if e.IsDir() {
				opened(path.Join(name, e.Name()))
			}
		}
	}
	opened(path.Base(dir))
	return os.RemoveAll(dir)
}
