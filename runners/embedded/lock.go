package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockFile is the name of the file in a directory that its owner holds locked.
// It holds the owner's process id, for the message to whoever comes second.
const lockFile = "lock"

// Lock is the sole ownership of a directory by this process. The kernel gives
// it back when the process ends, however it ends, so there are no stale locks;
// the file stays.
type Lock struct{ file *os.File }

// LockDir makes the directory if needed and locks it, or says which process
// holds it.
func LockDir(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the run directory: %w", err)
	}
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		owner, _ := io.ReadAll(io.LimitReader(f, 32))
		return nil, fmt.Errorf("directory %s is in use by process %s: stop it or choose another directory", dir, strings.TrimSpace(string(owner)))
	}
	if err := errors.Join(f.Truncate(0), writeAt(f, fmt.Sprintln(os.Getpid()))); err != nil {
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return &Lock{file: f}, nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// Unlock gives the directory back.
func (l *Lock) Unlock() error { return l.file.Close() }
