package rollout

import (
	"context"
	"errors"
	"fmt"

	"millrace/schemas"
	"millrace/transforms/environment"
)

// ErrBadParameters is returned for a task that its text environment refuses; trying
// again cannot help.
var ErrBadParameters = errors.New("the environment refuses the task")

// game is a text environment as a world. Its episodes have no patch, and nothing
// that could fail: what they answer is a function of the task and of the turns.
type game struct{ environment.Environment }

func (g game) start(task schemas.Task) (environment.Episode, error) {
	e, err := g.Start(task)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadParameters, err)
	}
	return e, nil
}

func (g game) prompt(task schemas.Task) (system, user string, err error) {
	e, err := g.start(task)
	if err != nil {
		return "", "", err
	}
	system, user = e.Prompt()
	return system, user, nil
}

func (g game) open(_ context.Context, _ string, task schemas.Task) (episode, error) {
	e, err := g.start(task)
	if err != nil {
		return nil, err
	}
	e.Prompt()
	return play{e}, nil
}

// play is one episode of a game.
type play struct{ environment.Episode }

func (p play) act(_ context.Context, turn string) (answer, error) {
	a := p.Step(turn)
	out := answer{tool: a.Action, observation: a.Observation, done: a.Done}
	if a.Action == "" {
		out.wasted, out.exitCode = true, -1
	}
	return out, nil
}

func (play) finish(context.Context, *schemas.Trajectory) error { return nil }
func (play) close()                                            {}
