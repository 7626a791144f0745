package rollout

import (
	"context"
	"errors"
	"fmt"

	"millrace/schemas"
)

// world is what a rollout acts on. There are two: a workspace in a sandbox with
// tools, and a text environment. The loop knows no more of either.
type world interface {
	// prompt returns the messages that begin a rollout of the task.
	prompt(task schemas.Task) (system, user string, err error)
	// open begins an episode. An error is an infrastructure failure, or one that
	// satisfies [hopeless].
	open(ctx context.Context, label string, task schemas.Task) (episode, error)
}

// episode is one rollout's part of a world. It is not safe for concurrent use.
type episode interface {
	// act answers a turn. An error is about the infrastructure, never about what the
	// agent wrote; answer.tool is set beside it if a tool was at work.
	act(ctx context.Context, turn string) (answer, error)
	// finish completes the trajectory with what the world has become.
	finish(ctx context.Context, t *schemas.Trajectory) error
	close()
}

// answer is what a world says to a turn.
type answer struct {
	tool        string // or action; empty if the turn held none
	observation string
	exitCode    int32
	done        bool // the turn ends the rollout
	wasted      bool // the turn did nothing, for want of a call or action, or as it was refused
}

// ErrNoEnvironment is returned for a task of a text environment that this process
// does not know; trying again cannot help.
var ErrNoEnvironment = errors.New("unknown text environment")

// worldOf is where the task is played.
func (a *Agent) worldOf(task schemas.Task) (world, error) {
	if task.Environment == "" {
		return workshop{a}, nil
	}
	e, ok := a.cfg.Environments[task.Environment]
	if !ok {
		return nil, fmt.Errorf("task %s: %w %q", task.ID, ErrNoEnvironment, task.Environment)
	}
	return game{e}, nil
}
