package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"millrace/schemas"
)

// Key names a command's result: the digest of everything it depends on.
type Key [sha256.Size]byte

// Store keeps results. It is safe for concurrent use; what it forgets is run
// again.
type Store interface {
	Get(Key) (Result, bool)
	Put(Key, Result) error
}

// Memo is a provider whose sandboxes run a deterministic command once for equal
// files. It keeps the files in memory and opens a sandbox of the provider below
// only when a command really has to run.
//
// A result is recorded only if the command ended by itself and left the files
// as they were. It is then true for any timeout, so the timeout is not part of
// the key; a caller who wants a slow command cut gets the recorded result.
type Memo struct {
	provider      Provider
	store         Store
	deterministic func(command string) bool
	environment   string

	mu     sync.Mutex
	flight map[Key]chan struct{} // closed when the run that others wait for is over
}

// NewMemo returns a Memo over p, which it closes when it is closed.
// Deterministic says of which commands the output depends on nothing but the
// files, up to durations. p.Fingerprint, if there is such a method, else
// p.Describe, names the environment.
func NewMemo(p Provider, store Store, deterministic func(command string) bool) Provider {
	environment := p.Describe()
	if f, ok := p.(interface{ Fingerprint() string }); ok {
		environment = f.Fingerprint()
	}
	return &Memo{provider: p, store: store, deterministic: deterministic, environment: environment, flight: map[Key]chan struct{}{}}
}

// Open makes a workspace in memory. One with an image is the provider's below:
// its files are not known here.
func (m *Memo) Open(ctx context.Context, label string, spec Spec) (Sandbox, error) {
	if spec.Image != "" {
		return m.provider.Open(ctx, label, spec)
	}
	s := &memoSandbox{memo: m, label: label, opened: spec.Files, files: map[string]string{}}
	for _, f := range spec.Files {
		if err := s.WriteFile(f.Path, []byte(f.Content)); err != nil {
			return nil, &Failure{Op: "writing workspace", Label: label, Err: fmt.Errorf("file %q: %w", f.Path, err)}
		}
	}
	return s, ctx.Err()
}

// Describe says which protections are active.
func (m *Memo) Describe() string { return m.provider.Describe() + "; results memoised" }

// Close closes the provider below.
func (m *Memo) Close() error { return m.provider.Close() }

// lead makes the caller the one who runs key, or returns a channel that closes
// when the one who does is done.
func (m *Memo) lead(key Key) (done func(), wait <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.flight[key]; ok {
		return nil, c
	}
	c := make(chan struct{})
	m.flight[key] = c
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.flight, key)
		close(c)
	}, nil
}

// memoSandbox holds the files in memory until a command leaves something that
// files cannot say (a link, an executable, an empty directory): from then on it
// is the sandbox below and no more.
//
// Invariant: unless opaque, files are the workspace, and the sandbox below, if
// there is one, holds the same.
type memoSandbox struct {
	memo   *Memo
	label  string
	opened []schemas.File
	files  map[string]string
	below  Sandbox
	opaque bool
}

func (s *memoSandbox) Exec(ctx context.Context, command string, timeout time.Duration) (Result, error) {
	if s.opaque || !s.memo.deterministic(command) {
		return s.run(ctx, command, timeout, nil)
	}
	key := s.key(command)
	for {
		if r, ok := s.memo.store.Get(key); ok {
			r.Cached = true
			return r, nil
		}
		done, wait := s.memo.lead(key)
		if done != nil {
			defer done()
			return s.run(ctx, command, timeout, &key)
		}
		select {
		case <-wait: // look again: if it was not recorded, one of the waiting runs it
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
	}
}

// run runs a command below and records its result under key, unless that is nil
// or the result says more than the files do.
func (s *memoSandbox) run(ctx context.Context, command string, timeout time.Duration, key *Key) (Result, error) {
	if key != nil {
		// Somebody may have recorded it between the look-up and the lead.
		if r, ok := s.memo.store.Get(*key); ok {
			r.Cached = true
			return r, nil
		}
	}
	if s.below == nil {
		below, err := s.memo.provider.Open(ctx, s.label, Spec{Files: s.list()})
		if err != nil {
			return Result{}, err
		}
		s.below = below
	}
	r, err := s.below.Exec(ctx, command, timeout)
	if err != nil {
		s.opaque = true // it may have run
		return r, err
	}
	changed, err := s.reread()
	if err != nil {
		return Result{}, &Failure{Op: "reading workspace", Label: s.label, Err: err}
	}
	byItself := !r.TimedOut && r.ExitCode >= 0 && r.ExitCode < 128
	if key != nil && byItself && !changed && !s.opaque {
		if err := s.memo.store.Put(*key, r); err != nil {
			return Result{}, &Failure{Op: "recording a result", Label: s.label, Err: err}
		}
	}
	return r, nil
}

// reread brings files up to date with the sandbox below.
func (s *memoSandbox) reread() (changed bool, err error) {
	if s.opaque {
		return true, nil
	}
	plain, err := onlyPlainFiles(s.below, ".")
	if errors.Is(err, ErrTooLarge) || err == nil && !plain {
		s.opaque = true
		return true, nil
	}
	if err != nil {
		return false, err
	}
	snapshot, err := s.below.Snapshot()
	if errors.Is(err, ErrTooLarge) {
		s.opaque = true
		return true, nil
	}
	if err != nil {
		return false, err
	}
	now := contents(snapshot)
	changed = !maps.Equal(now, s.files)
	s.files = now
	return changed, nil
}

// onlyPlainFiles tells whether the tree below dir is what writing its files
// anew would give.
func onlyPlainFiles(s Sandbox, dir string) (bool, error) {
	entries, err := s.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return dir == ".", err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return false, err
		}
		switch mode := info.Mode(); {
		case mode.IsDir():
			if plain, err := onlyPlainFiles(s, path.Join(dir, e.Name())); !plain || err != nil {
				return false, err
			}
		case !mode.IsRegular() || mode.Perm()&0o700 != 0o600:
			return false, nil
		}
	}
	return true, nil
}

func (s *memoSandbox) list() []schemas.File {
	files := make([]schemas.File, 0, len(s.files))
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		files = append(files, schemas.File{Path: name, Content: s.files[name]})
	}
	return files
}

// key is the digest of environment, command and files, each with its length
// before it so that no two lists run into one.
func (s *memoSandbox) key(command string) Key {
	h := sha256.New()
	add := func(text string) {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	add(s.memo.environment)
	add(command)
	for _, f := range s.list() {
		add(f.Path)
		add(f.Content)
	}
	return Key(h.Sum(nil))
}

func (s *memoSandbox) ReadFile(name string) ([]byte, error) {
	if s.opaque {
		return s.below.ReadFile(name)
	}
	name, err := Relative(name)
	if err != nil {
		return nil, err
	}
	content, ok := s.files[name]
	if !ok {
		return nil, s.missing("open", name)
	}
	return []byte(content), nil
}

// missing is the error of opening a name that is no file.
func (s *memoSandbox) missing(op, name string) error {
	err := fs.ErrNotExist
	if s.isDir(name) {
		err = fmt.Errorf("not a regular file: %w", fs.ErrInvalid)
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func (s *memoSandbox) isDir(name string) bool {
	if name == "." {
		return true
	}
	for file := range s.files {
		if strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}

func (s *memoSandbox) WriteFile(name string, data []byte) error {
	if s.opaque {
		return s.below.WriteFile(name, data)
	}
	clean, err := Relative(name)
	if err != nil {
		return err
	}
	if s.isDir(clean) {
		return s.missing("open", clean)
	}
	for dir := path.Dir(clean); dir != "."; dir = path.Dir(dir) {
		if _, ok := s.files[dir]; ok {
			return &fs.PathError{Op: "open", Path: clean, Err: fmt.Errorf("%s is a file: %w", dir, fs.ErrInvalid)}
		}
	}
	if s.below != nil {
		if err := s.below.WriteFile(clean, data); err != nil {
			return err
		}
	}
	s.files[clean] = string(data)
	return nil
}

func (s *memoSandbox) Remove(name string) error {
	if s.opaque {
		return s.below.Remove(name)
	}
	clean, err := Relative(name)
	if err != nil {
		return err
	}
	if _, ok := s.files[clean]; !ok {
		return s.missing("remove", clean)
	}
	if s.below != nil {
		if err := s.below.Remove(clean); err != nil {
			return err
		}
	}
	delete(s.files, clean)
	return s.pruneBelow(path.Dir(clean))
}

// pruneBelow removes from the sandbox below the directories that hold no file
// any more; here they are gone with their last file.
func (s *memoSandbox) pruneBelow(dir string) error {
	for ; s.below != nil && dir != "." && !s.isDir(dir); dir = path.Dir(dir) {
		if err := s.below.Remove(dir); err != nil {
			return err
		}
	}
	return nil
}

func (s *memoSandbox) Snapshot() ([]schemas.File, error) {
	if s.opaque {
		return s.below.Snapshot()
	}
	return s.list(), nil
}

// Patch compares with what Open was given.
func (s *memoSandbox) Patch(context.Context) (string, error) {
	after, err := s.Snapshot()
	if err != nil {
		return "", err
	}
	return Diff(s.opened, after), nil
}

// ImageDigest is empty: a workspace in memory has no image.
func (s *memoSandbox) ImageDigest() string { return "" }

func (s *memoSandbox) Close() error {
	if s.below == nil {
		return nil
	}
	return s.below.Close()
}
