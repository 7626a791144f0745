package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// runPrefix starts the name of the private directory of one provider.
const runPrefix = "run-"

// lockName is the file in a run directory that its owner keeps locked for as
// long as it lives, however it ends.
const lockName = "lock"

// runDir is the private directory of one provider.
type runDir struct {
	path string
	lock *os.File
}

// makeRunDir makes a run directory in dir, after removing those whose owner is
// dead.
func makeRunDir(dir string) (*runDir, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the sandbox directory: %w", err)
	}
	if err := ownedPrivately(dir); err != nil {
		return nil, err
	}
	if err := sweep(dir); err != nil {
		return nil, err
	}
	// The lock is taken under a name that sweep does not look at, so that no
	// other process finds the directory without one.
	path, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		return nil, fmt.Errorf("making a run directory: %w", err)
	}
	lock, held, err := tryLock(filepath.Join(path, lockName))
	if err == nil && !held {
		err = errors.New("somebody else holds it")
	}
	if err != nil {
		os.RemoveAll(path)
		return nil, fmt.Errorf("locking run directory %s: %w", path, err)
	}
	final := filepath.Join(dir, runPrefix+strings.TrimPrefix(filepath.Base(path), "new-"))
	err = os.Rename(path, final)
	for _, sub := range []string{"root", "workspaces"} {
		if err == nil {
			err = os.Mkdir(filepath.Join(final, sub), 0o700)
		}
	}
	if err != nil {
		lock.Close()
		os.RemoveAll(path)
		os.RemoveAll(final)
		return nil, fmt.Errorf("making run directory %s: %w", final, err)
	}
	return &runDir{path: final, lock: lock}, nil
}

// sweep removes the run directories in dir that nobody holds the lock of.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("sweeping dead sandboxes: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), runPrefix) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		lock, held, err := tryLock(filepath.Join(path, lockName))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed by another process that sweeps
		}
		if err != nil {
			return fmt.Errorf("sweeping %s: %w", path, err)
		}
		if !held {
			continue
		}
		err = removeAll(path)
		lock.Close()
		if err != nil {
			return fmt.Errorf("sweeping %s: %w", path, err)
		}
	}
	return nil
}

func (r *runDir) remove() error {
	defer r.lock.Close()
	return removeAll(r.path)
}
