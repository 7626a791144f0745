package journal

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"millrace/schemas"
)

// TestFullDiskLeavesWholeLines limits the size of files so that a line is
// written in part. The part must go, and writing must go on when there is room.
func TestFullDiskLeavesWholeLines(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	step(t, j, 1, schemas.Metric{Name: "a", Value: 1})
	path := filepath.Join(dir, metricsFile)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	const room = 10 // bytes of the next line
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(unix.SIGXFSZ)
	defer signal.Reset(unix.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(len(before) + room), Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	err = j.Step(2, at, []schemas.Metric{{Name: "a", Value: 2}})
	if restored := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); restored != nil {
		t.Fatal(restored)
	}
	if !errors.Is(err, unix.EFBIG) {
		t.Errorf("writing to a full disk: %v", err)
	}

	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file is %q (%v), was %q", after, err, before)
	}
	step(t, j, 3, schemas.Metric{Name: "a", Value: 3})
	shut(t, j)
	same(t, numbers(read(t, dir)), []int64{1, 3})
}
