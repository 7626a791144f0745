package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"millrace/schemas"
	"millrace/transforms/rollout/tools"
	"millrace/transforms/sandbox"
)

// workshop is a repository in a sandbox, and the four tools, as a world.
type workshop struct{ *Agent }

func (w workshop) prompt(task schemas.Task) (system, user string, err error) {
	data := promptData(task)
	if system, err = render(w.prompts.system, data); err != nil {
		return "", "", err
	}
	user, err = render(w.prompts.user, data)
	return system, user, err
}

func (w workshop) open(ctx context.Context, label string, task schemas.Task) (episode, error) {
	box, err := w.sandboxes.Open(ctx, label, sandbox.ForAgent(task))
	if err != nil {
		return nil, err
	}
	return &job{Agent: w.Agent, box: box, toolbox: tools.New(box, w.cfg.Tools)}, nil
}

// job is one rollout's workspace.
type job struct {
	*Agent
	box     sandbox.Sandbox
	toolbox *tools.Toolbox
}

// act performs the turn's tool call.
func (j *job) act(ctx context.Context, turn string) (answer, error) {
	_, call, ok, err := tools.Parse(turn)
	if !ok || err != nil {
		if err == nil {
			err = errors.New("no function call found; write one <function=...> call in each turn")
		}
		reminder, err := render(j.prompts.reminder, err.Error())
		return answer{observation: reminder, exitCode: -1, wasted: true}, err
	}
	a := answer{tool: toolName(call)}
	o, err := j.toolbox.Do(ctx, call)
	if err != nil {
		return a, err
	}
	a.observation, a.exitCode, a.done, a.wasted = o.Text, int32(o.ExitCode), o.Done, o.Refused
	return a, nil
}

// finish reads the patch: the difference between the snapshot and the workspace as
// the agent left it.
func (j *job) finish(ctx context.Context, t *schemas.Trajectory) error {
	patch, err := j.box.Patch(ctx)
	switch {
	case errors.Is(err, sandbox.ErrTooLarge):
		// The agent filled its workspace: its own doing, so not a failure. No
		// patch can be read back, which scores as an empty one.
		patch = ""
	case err != nil:
		return fmt.Errorf("reading the workspace back: %w", err)
	}
	t.Patch, t.ImageDigest = patch, j.box.ImageDigest()
	return nil
}

func (j *job) close() { j.box.Close() }

// toolName is the called tool, with its command if it has several:
// "file_editor.view".
func toolName(c tools.Call) string {
	if command := strings.TrimSpace(c.Args["command"]); command != "" && c.Name == "file_editor" {
		return c.Name + "." + command
	}
	return c.Name
}
