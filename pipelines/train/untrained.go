package train

import (
	"context"
	"errors"
	"fmt"

	"millrace/kernels"
	"millrace/pipelines/mine"
	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/rollout"
	"millrace/transforms/sandbox"
)

// Untrained are the live things of a pipeline that rolls out and scores as a run
// does, and trains nothing.
type Untrained struct{ parts parts }

// OpenSandboxes opens what scoring needs: sandboxes that show the Go build cache
// goCache, and the caches of commands and scores below dir.
func OpenSandboxes(c Config, dir, goCache string) (*Untrained, error) {
	u := &Untrained{}
	if err := u.parts.openSandboxes(c, dir, goCache); err != nil {
		return nil, errors.Join(err, u.Close())
	}
	return u, nil
}

// OpenAgent opens what rollouts need beside: the task set, and the policy of the
// configuration as version 0.
func (u *Untrained) OpenAgent(ctx context.Context, c Config, dir string) error {
	var err error
	if u.parts.tasks, err = c.Tasks.load(); err != nil {
		return err
	}
	if err := u.parts.readyFor(ctx, u.parts.tasks); err != nil {
		return err
	}
	if len(c.Policy.Endpoints) > 0 {
		return u.parts.openServed(ctx, c, dir)
	}
	policyDir, model, weights, err := u.parts.loadPolicy(c, dir)
	if err != nil {
		return err
	}
	u.parts.policyDir = policyDir
	if err := u.parts.openDevice(c); err != nil {
		return err
	}
	_, err = u.parts.openEngine(c, model, kernels.Tensors(weights))
	return err
}

// ReadyFor connects to the container daemon if one of the tasks needs it.
func (u *Untrained) ReadyFor(ctx context.Context, tasks []schemas.Task) error {
	return u.parts.readyFor(ctx, tasks)
}

// Sandboxes are those of the scorer.
func (u *Untrained) Sandboxes() sandbox.Provider { return u.parts.fresh }

// Tasks are the tasks of the configured split, at most n of them at even distances
// when n is not 0. That there is none is an error.
func (u *Untrained) Tasks(split string, n int) ([]schemas.Task, error) {
	tasks := mine.Select(u.parts.tasks, split)
	if len(tasks) == 0 {
		return nil, fmt.Errorf("tasks: the set has no task of split %q (tasks.split), or none of the kinds (tasks.kinds)", split)
	}
	if n > 0 && n < len(tasks) {
		tasks = spread(tasks, n)
	}
	return tasks, nil
}

// Worker runs the orders of the configuration's run.
func (u *Untrained) Worker(c Config) (*rollout.Worker, error) {
	return u.parts.worker(c, c.Rollout.Temperature, c.Seed, 0)
}

// Elsewhere says of what workers on other machines make the same.
func (u *Untrained) Elsewhere(c Config) (stage.Settings, error) {
	return settingsElsewhere(c, u.parts.policyDir)
}

// Scorer gives the configured reward.
func (u *Untrained) Scorer() stage.Scorer { return u.parts.reward }

// Describe says how commands are confined.
func (u *Untrained) Describe() string { return u.parts.sandboxes.Describe() }

// Close closes what was opened.
func (u *Untrained) Close() error { return u.parts.Close() }
