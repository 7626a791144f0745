package sandbox

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
)

// memoEntry is a file or directory of a workspace in memory.
type memoEntry struct {
	name string
	size int64
	dir  bool
}

func (e memoEntry) Name() string               { return e.name }
func (e memoEntry) IsDir() bool                { return e.dir }
func (e memoEntry) Type() fs.FileMode          { return e.Mode().Type() }
func (e memoEntry) Info() (fs.FileInfo, error) { return e, nil }
func (e memoEntry) Size() int64                { return e.size }
func (e memoEntry) ModTime() time.Time         { return time.Time{} }
func (e memoEntry) Sys() any                   { return nil }

func (e memoEntry) Mode() fs.FileMode {
	if e.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

func (s *memoSandbox) ReadDir(name string) ([]fs.DirEntry, error) {
	if s.opaque {
		return s.below.ReadDir(name)
	}
	dir, err := Relative(name)
	if err != nil {
		return nil, err
	}
	if !s.isDir(dir) {
		return nil, s.missing("readdir", dir)
	}
	found := map[string]memoEntry{}
	for file, content := range s.files {
		rest, ok := file, true
		if dir != "." {
			rest, ok = strings.CutPrefix(file, dir+"/")
		}
		if !ok {
			continue
		}
		if first, _, deeper := strings.Cut(rest, "/"); deeper {
			found[first] = memoEntry{name: first, dir: true}
		} else {
			found[rest] = memoEntry{name: rest, size: int64(len(content))}
		}
	}
	entries := make([]fs.DirEntry, 0, len(found))
	for _, n := range slices.Sorted(maps.Keys(found)) {
		entries = append(entries, found[n])
	}
	return entries, nil
}
