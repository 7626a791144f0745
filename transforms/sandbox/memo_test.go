package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace/schemas"
)

// directory is a provider that runs nothing: a command is "print PATH", "write
// PATH TEXT", "link PATH", "fail" or "late".
type directory struct {
	dir          string
	opens, execs atomic.Int64
	hold         chan struct{} // if set, each command waits for it
}

func (d *directory) Open(_ context.Context, _ string, spec Spec) (Sandbox, error) {
	dir, err := os.MkdirTemp(d.dir, "")
	if err != nil {
		return nil, err
	}
	d.opens.Add(1)
	w, err := openWorkspace(dir, -1, DefaultLimits())
	if err != nil {
		return nil, err
	}
	w.opened = spec.Files
	for _, f := range spec.Files {
		if err := w.WriteFile(f.Path, []byte(f.Content)); err != nil {
			return nil, err
		}
	}
	return directorySandbox{w, d}, nil
}

func (d *directory) Describe() string { return "directory" }
func (d *directory) Close() error     { return nil }

type directorySandbox struct {
	*workspace
	d *directory
}

func (s directorySandbox) Close() error { return s.remove() }

func (s directorySandbox) Exec(_ context.Context, command string, _ time.Duration) (Result, error) {
	s.d.execs.Add(1)
	if s.d.hold != nil {
		<-s.d.hold
	}
	words := strings.Fields(command)
	switch words[0] {
	case "print":
		data, err := s.ReadFile(words[1])
		if err != nil {
			return Result{Output: err.Error(), ExitCode: 1}, nil
		}
		return Result{Output: string(data)}, nil
	case "write":
		return Result{}, s.WriteFile(words[1], []byte(words[2]))
	case "link":
		return Result{}, s.root.Symlink("a", words[1])
	case "late":
		return Result{ExitCode: -1, TimedOut: true}, nil
	}
	return Result{}, &Failure{Op: "failing", Err: errors.New("as told")}
}

func newMemo(t *testing.T, store Store) (*directory, Provider) {
	d := &directory{dir: t.TempDir()}
	if store == nil {
		var err error
		if store, err = NewStore("", 100); err != nil {
			t.Fatal(err)
		}
	}
	return d, NewMemo(d, store, func(c string) bool { return !strings.HasPrefix(c, "write") && !strings.HasPrefix(c, "link") })
}

func TestMemoRunsOncePerContent(t *testing.T) {
	d, m := newMemo(t, nil)
	a := schemas.File{Path: "a", Content: "1"}
	s := open(t, m, a)
	check := func(s Sandbox, command, output string, cached bool, execs int64) {
		t.Helper()
		r := run(t, s, command)
		if r.Output != output || r.Cached != cached || d.execs.Load() != execs {
			t.Errorf("%s: %+v after %d runs; want %q, cached %v, %d runs", command, r, d.execs.Load(), output, cached, execs)
		}
	}
	check(s, "print a", "1", false, 1)
	check(s, "print a", "1", true, 1)
	other := open(t, m, a)
	check(other, "print a", "1", true, 1)
	if n := d.opens.Load(); n != 1 {
		t.Errorf("%d sandboxes opened, want 1: a hit needs none", n)
	}
	if err := s.WriteFile("a", []byte("2")); err != nil {
		t.Fatal(err)
	}
	check(s, "print a", "2", false, 2)
	check(s, "write a 1", "", false, 3) // seen although a command did it
	check(s, "print a", "1", true, 3)
	if data, err := s.ReadFile("a"); err != nil || string(data) != "1" {
		t.Errorf("ReadFile after a command wrote: %q, %v", data, err)
	}
	// A link cannot be told by files: no result is shared from here on.
	check(s, "link b", "", false, 4)
	check(s, "print a", "1", false, 5)
	check(s, "print a", "1", false, 6)
	if entries, err := s.ReadDir("."); err != nil || len(entries) != 2 {
		t.Errorf("ReadDir with a link: %v, %v", entries, err)
	}
}

func TestMemoKeepsNoAccident(t *testing.T) {
	d, m := newMemo(t, nil)
	s := open(t, m)
	for range 2 {
		if r := run(t, s, "late"); !r.TimedOut || r.Cached {
			t.Errorf("timeout: %+v", r)
		}
	}
	for range 2 {
		var failure *Failure
		if _, err := s.Exec(t.Context(), "fail", time.Second); !errors.As(err, &failure) {
			t.Errorf("failure: %v", err)
		}
	}
	if n := d.execs.Load(); n != 4 {
		t.Errorf("%d runs, want 4", n)
	}
}

func TestMemoSingleFlight(t *testing.T) {
	d, m := newMemo(t, nil)
	d.hold = make(chan struct{})
	var all sync.WaitGroup
	for range 8 {
		s := open(t, m, schemas.File{Path: "a", Content: "x"})
		all.Go(func() {
			if r, err := s.Exec(t.Context(), "print a", time.Second); err != nil || r.Output != "x" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	close(d.hold)
	all.Wait()
	if n := d.execs.Load(); n != 1 {
		t.Errorf("%d runs for 8 equal requests, want 1", n)
	}
}

func TestMemoFiles(t *testing.T) {
	d, m := newMemo(t, nil)
	s := open(t, m, schemas.File{Path: "d/e/f", Content: "1"}, schemas.File{Path: "g", Content: "2"})
	entries, err := s.ReadDir(Root)
	if err != nil || len(entries) != 2 || entries[0].Name() != "d" || !entries[0].IsDir() || entries[1].IsDir() {
		t.Errorf("ReadDir: %v, %v", entries, err)
	}
	for _, name := range []string{"../x", "/etc/passwd", "d/../../x"} {
		if err := s.WriteFile(name, nil); !errors.Is(err, ErrOutside) {
			t.Errorf("WriteFile(%q): %v", name, err)
		}
	}
	for _, name := range []string{"d", "g/h", "."} {
		if err := s.WriteFile(name, nil); err == nil {
			t.Errorf("WriteFile(%q) succeeded", name)
		}
	}
	run(t, s, "print g")
	if err := s.Remove("d/e/f"); err != nil {
		t.Fatal(err)
	}
	run(t, s, "print d/e/f")
	if files, err := s.Snapshot(); err != nil || len(files) != 1 || files[0].Path != "g" {
		t.Errorf("Snapshot: %v, %v", files, err)
	}
	if r := run(t, s, "print g"); r.Cached || d.execs.Load() != 3 {
		t.Errorf("after removing another file: %+v after %d runs", r, d.execs.Load())
	}
}

func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results")
	s, err := NewStore(path, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := Result{Output: "a\nb", ExitCode: 3, Duration: time.Second}
	for i := range byte(3) {
		if err := s.Put(Key{i}, want); err != nil {
			t.Fatal(err)
		}
		s.Get(Key{0}) // keeps it the most recently used
	}
	if _, ok := s.Get(Key{1}); ok {
		t.Error("a third result is kept by a store of two")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Torn in the last line, and a flipped bit in the second.
	second := strings.Index(string(data), "\n") + 20
	data[second] ^= 1
	if err := os.WriteFile(path, data[:len(data)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time with a line appended to the mended file
		if s, err = NewStore(path, 10); err != nil {
			t.Fatal(err)
		}
		if r, ok := s.Get(Key{0}); !ok || r != want {
			t.Errorf("reopened: %+v, %v", r, ok)
		}
		for _, k := range []byte{1, 2} {
			if _, ok := s.Get(Key{k}); ok {
				t.Errorf("damaged result %d was read", k)
			}
		}
		if err := s.Put(Key{9}, want); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if s, err = NewStore(path, 10); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r, ok := s.Get(Key{9}); !ok || r != want {
		t.Errorf("appended after a torn line: %+v, %v", r, ok)
	}
}
