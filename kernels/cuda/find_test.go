package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFind: the library is where MILLRACE_CUDA says or nowhere, else beside the
// executable, else in the build folder of a working copy.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	file := func(parts ...string) string {
		path := filepath.Join(append([]string{dir}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	named := file("elsewhere.so")
	executable := func() (string, error) { return filepath.Join(dir, "copy", "bin", "millrace"), nil }
	working := func() (string, error) { return filepath.Join(dir, "work"), nil }

	if got, err := find(named, executable, working); err != nil || got != named {
		t.Errorf("named: %q, %v", got, err)
	}
	_, err := find(filepath.Join(dir, "gone.so"), executable, working)
	wantUnavailable(t, err, "MILLRACE_CUDA", "gone.so")
	_, err = find("", executable, working)
	wantUnavailable(t, err, libraryFile, filepath.Join(dir, "copy", "bin"), filepath.Join(dir, "work", "kernels", "cuda", "build"), "MILLRACE_CUDA")

	copied := func() (string, error) { return filepath.Join(dir, "copy"), nil }
	if _, err := find("", executable, copied); strings.Count(err.Error(), filepath.Join(dir, "copy", "kernels")) != 1 {
		t.Errorf("in the copy's own folder: %v; want each place once", err)
	}

	// Each is stronger than the one before.
	for _, parts := range [][]string{{"work", "kernels", "cuda", "build"}, {"copy", "kernels", "cuda", "build"}, {"copy", "bin"}} {
		want := file(append(parts, libraryFile)...)
		if got, err := find("", executable, working); err != nil || got != want {
			t.Errorf("found %q, %v, want %s", got, err, want)
		}
	}
}

// TestLoadRefuses: a file that is no library, and a library that is not ours.
func TestLoadRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), libraryFile)
	if err := os.WriteFile(path, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a text file: %v", err)
	}
	if err := checkVersion(abiVersion + 1); !errors.Is(err, errVersion) || !strings.Contains(err.Error(), "the library has 3, this program 2") {
		t.Errorf("another version: %v", err)
	}
	if err := checkVersion(abiVersion); err != nil {
		t.Error(err)
	}
}

// TestOpenRefuses: an ordinal that is not there is unavailable, and named.
func TestOpenRefuses(t *testing.T) {
	open(t) // skips without a library
	_, err := Open(99)
	wantUnavailable(t, err, "cuda:99")
}

func wantUnavailable(t *testing.T, err error, parts ...string) {
	t.Helper()
	if !errors.Is(err, ErrUnavailable) {
		t.Fatalf("error is %v, want ErrUnavailable", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not tell %q", err, part)
		}
	}
}
