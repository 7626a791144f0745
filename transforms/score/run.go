package score

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/testlog"
)

// Run is what one execution of a test command came to. It holds nothing about
// the trajectory, so every trajectory with the same [Key] may use it.
type Run struct {
	testlog.Results
}

// errNotRun is the failure of a command that the shell could not execute.
var errNotRun = errors.New("the test command could not be run")

// errHost is the failure of a host that lacks what the test command needs.
var errHost = errors.New("the scoring host failed")

// attempt runs the test command once in a fresh sandbox. An error is always the
// infrastructure's: the sandbox's, the deadline of the host (not of the tests,
// which is Run.TimedOut), a shortage of the host that the sandbox or the test
// command reported, or a command that does not exist there; or that a patch does
// not apply, which is no better when it is tried again.
func (s *Scorer) attempt(ctx context.Context, label string, task schemas.Task, e setting) (Run, error) {
	sb, err := s.open(ctx, label, e)
	if err != nil {
		return Run{}, fmt.Errorf("opening the scoring sandbox: %w", err)
	}
	defer func() {
		if err := sb.Close(); err != nil {
			// The verdicts are in hand; what is left behind is the provider's to remove.
			slog.Warn("closing the scoring sandbox", "trajectory", label, "error", err)
		}
	}()
	limit := s.config.TestTimeout
	if task.TestSeconds > 0 {
		limit = time.Duration(task.TestSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.SetupTimeout+limit)
	defer cancel()
	if err := e.arrange(ctx, sb); err != nil {
		return Run{}, err
	}
	res, err := sb.Exec(ctx, task.TestCommand, limit)
	if err != nil {
		return Run{}, fmt.Errorf("running %q: %w", task.TestCommand, err)
	}
	return s.judge(task, res)
}

// open makes the sandbox. One of an image may have to be pulled and set up first,
// for which the provider has limits of its own.
func (s *Scorer) open(ctx context.Context, label string, e setting) (sandbox.Sandbox, error) {
	if e.spec.Image == "" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.config.SetupTimeout)
		defer cancel()
	}
	return s.provider.Open(ctx, label, e.spec)
}

// judge reads a finished command, and tells a host's failure from the agent's.
func (s *Scorer) judge(task schemas.Task, res sandbox.Result) (Run, error) {
	results, err := testlog.Parse(task.TestFormat, res.Output, testlog.Options{Compat: s.config.Compat})
	if err != nil {
		return Run{}, err
	}
	results.TimedOut, results.Truncated = res.TimedOut, res.Truncated
	switch {
	case res.OutOfMemory:
		return Run{}, fmt.Errorf("%w: the sandbox's memory limit was reached", errHost)
	case res.DiskFull:
		return Run{}, fmt.Errorf("%w: the sandbox's disk limit was reached", errHost)
	case results.Trouble != "":
		return Run{}, fmt.Errorf("%w: %s", errHost, results.Trouble)
	case !res.TimedOut && (res.ExitCode == 126 || res.ExitCode == 127) && len(results.Verdicts) == 0 && len(results.FailedBuilds) == 0:
		// POSIX: 126 found but not executable, 127 not found.
		return Run{}, fmt.Errorf("%w: exit status %d of %q: %s", errNotRun, res.ExitCode, task.TestCommand, results.Text)
	}
	return Run{results}, nil
}
