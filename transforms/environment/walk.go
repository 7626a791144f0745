package environment

import (
	"fmt"
	"math/rand/v2"

	"millrace/schemas"
)

// Walk plays an episode of the task without a plan: one of the actions at random in
// each turn, at most steps turns. see is given every message, with "system", "user"
// or "assistant" as its role, as the chat of a rollout would have them.
func Walk(e Environment, task schemas.Task, rng *rand.Rand, steps int, see func(role, text string)) error {
	episode, err := e.Start(task)
	if err != nil {
		return fmt.Errorf("walking through task %s: %w", task.ID, err)
	}
	system, user := episode.Prompt()
	see("system", system)
	see("user", user)
	for range steps {
		actions := episode.Actions()
		turn := actions[rng.IntN(len(actions))]
		see("assistant", turn)
		answer := episode.Step(turn)
		if answer.Done {
			break
		}
		see("user", answer.Observation)
	}
	return nil
}
