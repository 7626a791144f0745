package rollout

import (
	"errors"
	"fmt"
	"time"
)

// Limits bound one trajectory. Reaching Context, Steps or Time ends it with the
// termination reason of that name, which compact filtering decides by.
type Limits struct {
	// Context is the largest number of tokens of a trajectory, prompt included.
	Context int `yaml:"context"`
	// Prompt is the largest number of tokens of the first prompt; 0 leaves it to
	// Context. A task over it is refused.
	Prompt int `yaml:"prompt"`
	// Turn is the largest number of tokens sampled in one turn.
	Turn int `yaml:"turn_tokens"`
	// Steps is the largest number of environment steps.
	Steps int `yaml:"steps"`
	// Malformed is the number of turns in a row that did nothing, for want of a
	// well-formed call or because the tool refused it, after which the trajectory
	// ends. An agent that copies its own mistake rarely finds out of it.
	Malformed int `yaml:"malformed_turns"`
	// Action bounds one tool call, Time the whole trajectory without waiting for
	// a sandbox.
	Action time.Duration `yaml:"action_time"`
	Time   time.Duration `yaml:"time"`
}

// Validate reports every limit that makes no sense.
func (l Limits) Validate() error {
	var errs []error
	for _, c := range []struct {
		name  string
		value int
	}{{"context", l.Context}, {"turn_tokens", l.Turn}, {"steps", l.Steps}, {"malformed_turns", l.Malformed}} {
		if c.value <= 0 {
			errs = append(errs, fmt.Errorf("limits.%s is %d: must be positive", c.name, c.value))
		}
	}
	if l.Prompt < 0 || l.Prompt > l.Context {
		errs = append(errs, fmt.Errorf("limits.prompt is %d: not within 0 and limits.context %d", l.Prompt, l.Context))
	}
	if l.Turn > l.Context {
		errs = append(errs, fmt.Errorf("limits.turn_tokens is %d: larger than limits.context %d", l.Turn, l.Context))
	}
	if l.Action <= 0 || l.Time < l.Action {
		errs = append(errs, fmt.Errorf("limits.action_time is %v and limits.time %v: both must be positive, time the larger", l.Action, l.Time))
	}
	return errors.Join(errs...)
}
