package jobs

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/prometheus/procfs"
)

// bootID names the present boot of the machine.
var bootID = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("which boot this is: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
})

// identify says which process has a pid. One that has ended and that its parent
// has not asked about yet has none.
func identify(pid int) (Process, error) {
	boot, err := bootID()
	if err != nil {
		return Process{}, err
	}
	process, err := procfs.NewProc(pid)
	if err != nil {
		return Process{}, err
	}
	stat, err := process.Stat()
	if err != nil {
		return Process{}, err
	}
	if stat.State == "Z" || stat.State == "X" {
		return Process{}, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	return Process{PID: pid, Start: stat.Starttime, Boot: boot}, nil
}
