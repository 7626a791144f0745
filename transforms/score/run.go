package score

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// GoTestJSON is the test format that [ParseGoTest] reads.
const GoTestJSON = "go-test-json"

// Run is what one execution of a test command came to. It holds nothing about
// the trajectory, so every trajectory with the same [Key] may use it.
type Run struct {
	Results
	// TimedOut is true when the command was ended by its own time limit.
	TimedOut bool `json:"timed_out,omitempty"`
	// Truncated is true when the middle of the output was dropped; the tests
	// named there have not passed.
	Truncated bool `json:"truncated,omitempty"`
}

// errNotRun is the failure of a command that the shell could not execute.
var errNotRun = errors.New("the test command could not be run")

// errHost is the failure of a host that lacks what the go command needs.
var errHost = errors.New("the scoring host failed")

// attempt runs the test command once in a fresh sandbox. An error is always the
// infrastructure's: the sandbox's, the deadline of the host (not of the tests,
// which is Run.TimedOut), a shortage that the go command reported, or a command
// that does not exist on the host.
func (s *Scorer) attempt(ctx context.Context, label, command string, workspace []schemas.File) (Run, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.SetupTimeout+s.config.TestTimeout)
	defer cancel()
	sb, err := s.provider.Open(ctx, label, sandbox.Spec{Files: workspace})
	if err != nil {
		return Run{}, fmt.Errorf("opening the scoring sandbox: %w", err)
	}
	res, err := sb.Exec(ctx, command, s.config.TestTimeout)
	if cerr := sb.Close(); cerr != nil {
		// The verdicts are in hand; what is left behind is the provider's to remove.
		slog.Warn("closing the scoring sandbox", "trajectory", label, "error", cerr)
	}
	if err != nil {
		return Run{}, fmt.Errorf("running %q: %w", command, err)
	}
	return judge(command, res)
}

// judge reads a finished command, and tells a host's failure from the agent's.
func judge(command string, res sandbox.Result) (Run, error) {
	run := Run{Results: ParseGoTest(res.Output), TimedOut: res.TimedOut, Truncated: res.Truncated}
	switch {
	case run.Trouble != "":
		return Run{}, fmt.Errorf("%w: %s", errHost, run.Trouble)
	case !res.TimedOut && (res.ExitCode == 126 || res.ExitCode == 127) && len(run.Verdicts) == 0 && len(run.FailedBuilds) == 0:
		// POSIX: 126 found but not executable, 127 not found.
		return Run{}, fmt.Errorf("%w: exit status %d of %q: %s", errNotRun, res.ExitCode, command, run.Text)
	}
	return run, nil
}
