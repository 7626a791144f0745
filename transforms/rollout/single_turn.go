package rollout

import (
	"context"
	"errors"
	"fmt"

	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/swerl"
)

// singleTurn is SWE-RL's rollout (Wei et al. 2025, arXiv:2502.18449): the prompt
// holds the issue and the files whole, and one turn answers with edits. There is no
// sandbox; the patch is what the edits make of the files.
//
// An answer that cannot be read, or whose edits do not fit, ends as malformed, which
// SWE-RL's reward gives -1. One that the context cut off ends for that.
func (e *attempt) singleTurn(ctx context.Context, order schemas.Task) error {
	if len(order.Files) == 0 { // nor has a task of a text environment any
		return fmt.Errorf("task %s holds no files to show to the policy: %w", order.ID, sandbox.ErrUnsupported)
	}
	system, user := swerl.Prompt(order.Statement, order.Files)
	if err := e.begin(system, user); err != nil {
		return err
	}
	var err error
	if e.session, err = e.policy.Open(ctx); err != nil {
		return &policyFailure{"opening a policy session", err}
	}
	defer e.session.Close()
	started := e.now()
	e.deadline = started.Add(e.cfg.Limits.Time)
	step, stopped, err := e.sample(ctx, min(e.cfg.Limits.Context-len(e.transcript.tokens), e.cfg.Limits.Turn))
	if err != nil {
		return err
	}
	step.Sampling = e.now().Sub(started).Microseconds()
	patch, err := swerl.Patch(order.Files, step.Action)
	switch {
	case !stopped && len(e.transcript.tokens) >= e.cfg.Limits.Context:
		e.trajectory.Termination = schemas.ContextFull
	case errors.Is(err, swerl.ErrFormat):
		e.trajectory.Termination = schemas.Malformed
		step.Observation, step.ExitCode = err.Error(), -1
	case err != nil:
		return fmt.Errorf("making a patch of the answer: %w", err)
	default:
		e.trajectory.Termination, e.trajectory.Patch = schemas.Finished, patch
	}
	e.trajectory.Steps = []schemas.Step{step}
	e.trajectory.Finished = e.now().UnixMicro()
	e.transcript.store(&e.trajectory)
	return nil
}
