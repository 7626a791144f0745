package environment

import (
	"fmt"
	"slices"

	"millrace/schemas"
)

// Replay plays a trajectory's turns again in a fresh episode of its task and returns
// the goals that were reached, and those of the task that were not. The answers must
// be those on record, to the letter; one that differs is an error that names the
// turn: the environment is not the one that was played in, or the record is damaged.
//
// Only the turn that filled the context has no observation: it was cut short, and
// was not acted on.
func Replay(e Environment, t schemas.Trajectory) (reached, missed []string, err error) {
	episode, err := e.Start(t.Task)
	if err != nil {
		return nil, nil, err
	}
	episode.Prompt()
	done := false
	for i, step := range t.Steps {
		if done {
			return nil, nil, fmt.Errorf("replaying turn %d: the episode ended with the one before", i+1)
		}
		if step.Observation == "" && i == len(t.Steps)-1 && t.Termination == schemas.ContextFull {
			break
		}
		answer := episode.Step(step.Action)
		if answer.Action != step.Tool || answer.Observation != step.Observation {
			return nil, nil, fmt.Errorf("replaying turn %d: action %q is answered by %q, on record are action %q and answer %q",
				i+1, answer.Action, answer.Observation, step.Tool, step.Observation)
		}
		done = answer.Done
	}
	if recorded := t.Termination == schemas.Finished; recorded != done {
		return nil, nil, fmt.Errorf("replaying %d turns: that the episode has ended is %v, on record is termination %q", len(t.Steps), done, t.Termination)
	}
	for _, goal := range t.Task.FailToPass {
		if slices.Contains(episode.Reached(), goal) {
			reached = append(reached, goal)
		} else {
			missed = append(missed, goal)
		}
	}
	return reached, missed, nil
}
