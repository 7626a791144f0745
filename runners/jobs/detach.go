package jobs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// detachPoll is how often it is looked whether a detached process has taken over
// its job.
const detachPoll = 10 * time.Millisecond

// Detach starts this program anew with args, as a process of its own that works on
// the job: in its own session, so that no terminal ends it, with what it writes to
// standard error in the job's log. It returns when that process has taken the job
// over; ctx bounds the wait, not the process.
func (j Job) Detach(ctx context.Context, args ...string) error {
	before, err := j.read()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program to run job %s: %w", j.ID, err)
	}
	log, err := j.OpenLog()
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(program, args...)
	command.Stderr = log
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting the process of job %s: %w", j.ID, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for {
		s, err := j.read()
		if err != nil {
			return err
		}
		if s.Runs > before.Runs {
			return nil
		}
		select {
		case err := <-ended:
			if s, readErr := j.read(); readErr == nil && s.Runs > before.Runs {
				return nil // it was quick; the status says what came of it
			}
			return fmt.Errorf("the process of job %s ended at once (%v); see %s", j.ID, err, j.LogFile())
		case <-ctx.Done():
			return fmt.Errorf("the process of job %s has not begun yet: %w", j.ID, context.Cause(ctx))
		case <-time.After(detachPoll):
		}
	}
}
