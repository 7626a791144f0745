package jobs

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Process identifies a process among all that a machine ever ran.
type Process struct {
	PID int `json:"pid"`
	// Start is when it was started, in clock ticks since the machine was booted.
	Start uint64 `json:"start"`
	// Boot names that boot.
	Boot string `json:"boot"`
}

// ErrGone is returned for a process that has ended.
var ErrGone = errors.New("the process has ended")

// Self is this process.
func Self() (Process, error) {
	p, err := identify(os.Getpid())
	if err != nil {
		return p, fmt.Errorf("finding out which process this is: %w", err)
	}
	return p, nil
}

// Alive reports whether the process still runs.
func (p Process) Alive() bool {
	now, err := identify(p.PID)
	return err == nil && now == p
}

// Signal sends a signal to the process, and to no other that has its pid now.
func (p Process) Signal(s os.Signal) error {
	// The handle stays with the process that has the pid at this moment, whatever
	// becomes of the pid: so it is asked afterwards which one that is.
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return fmt.Errorf("process %d: %w", p.PID, ErrGone)
	}
	defer handle.Release()
	if !p.Alive() {
		return fmt.Errorf("process %d: %w", p.PID, ErrGone)
	}
	if err := handle.Signal(s); errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("process %d: %w", p.PID, ErrGone)
	} else if err != nil {
		return fmt.Errorf("sending %v to process %d: %w", s, p.PID, err)
	}
	return nil
}

// gonePoll is how often it is looked whether a process has ended. It may be
// nobody's child here, so there is nothing to wait on.
const gonePoll = 50 * time.Millisecond

// AwaitEnd returns true when the process has ended, false when stop was closed or
// sent to before.
func (p Process) AwaitEnd(stop <-chan time.Time) bool {
	for p.Alive() {
		select {
		case <-stop:
			return !p.Alive()
		case <-time.After(gonePoll):
		}
	}
	return true
}
