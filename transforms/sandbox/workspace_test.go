//go:build unix

package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func newWorkspace(t *testing.T, limits Limits) *workspace {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := openWorkspace(dir, -1, limits.orDefault())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.remove(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// TestLinksDoNotLeadOut: whatever links a command leaves, the file methods
// neither read nor change anything outside.
func TestLinksDoNotLeadOut(t *testing.T) {
	w := newWorkspace(t, Limits{})
	host := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(host, []byte("host"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"file": host, "dir": filepath.Dir(host), "up": "..", "new": filepath.Join(filepath.Dir(host), "new")} {
		if err := w.root.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"file", "dir/secret", "up/x", "new", "dir/sub/x", "../x", "/etc/passwd", Root + "/../x", "up"} {
		if data, err := w.ReadFile(name); !errors.Is(err, ErrOutside) {
			t.Errorf("ReadFile(%q) = %q, %v", name, data, err)
		}
		if err := w.WriteFile(name, []byte("x")); !errors.Is(err, ErrOutside) {
			t.Errorf("WriteFile(%q): %v", name, err)
		}
	}
	for _, name := range []string{"dir", "up", "..", "/"} {
		if entries, err := w.ReadDir(name); !errors.Is(err, ErrOutside) {
			t.Errorf("ReadDir(%q) = %v, %v", name, entries, err)
		}
	}
	if err := w.Remove("dir/secret"); !errors.Is(err, ErrOutside) {
		t.Errorf("Remove through a link: %v", err)
	}
	if files, err := w.Snapshot(); err != nil || len(files) != 0 {
		t.Errorf("Snapshot of links = %v, %v", files, err)
	}
	if data, err := os.ReadFile(host); err != nil || string(data) != "host" {
		t.Errorf("the host's file is now %q, %v", data, err)
	}
}

func TestFilesThatAreNone(t *testing.T) {
	w := newWorkspace(t, Limits{})
	if err := syscall.Mkfifo(filepath.Join(w.dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteFile("d/f", nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "d"} {
		if _, err := w.ReadFile(name); err == nil {
			t.Errorf("ReadFile(%q) succeeded", name)
		}
		if err := w.WriteFile(name, nil); err == nil {
			t.Errorf("WriteFile(%q) succeeded", name)
		}
	}
	if _, err := w.ReadDir("pipe"); err == nil {
		t.Error("ReadDir of a pipe succeeded")
	}
	if _, err := w.ReadFile("absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile of nothing: %v", err)
	}
}

func TestClosedPermissionsAreOpened(t *testing.T) {
	w := newWorkspace(t, Limits{})
	if err := w.WriteFile("d/e/f", []byte("1")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"d/e/f", "d/e", "d"} {
		if err := w.root.Chmod(name, 0); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := w.ReadFile("d/e/f"); err != nil || string(data) != "1" {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
	if err := w.root.Chmod("d/e/f", 0o444); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteFile("d/e/f", []byte("2")); err != nil {
		t.Error(err)
	}
	if err := w.root.Chmod("d", 0); err != nil { // for the removal at the end
		t.Fatal(err)
	}
}

func TestSnapshotIsBounded(t *testing.T) {
	w := newWorkspace(t, Limits{SnapshotFiles: 3, SnapshotBytes: 10})
	for _, name := range []string{"a", "b", "c"} {
		if err := w.WriteFile(name, []byte("123")); err != nil {
			t.Fatal(err)
		}
	}
	if files, err := w.Snapshot(); err != nil || len(files) != 3 {
		t.Errorf("within the limits: %v, %v", files, err)
	}
	if err := w.WriteFile("c", make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteFile("d", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Snapshot(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("four files of three: %v", err)
	}
	if err := w.Remove("d"); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteFile("a", make([]byte, 20)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Snapshot(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("20 bytes of 10: %v", err)
	}
}
