// Package environment is the interface of text environments: worlds that a
// program plays by itself, without sandbox, container or clock. Each is a small
// package below this one.
//
// What always holds:
//
//   - An episode is a function of its task and of the turns: equal tasks and turns
//     give equal answers, on every machine and in every process. So the scorer plays
//     a recorded trajectory again in a fresh episode ([Replay]), and no reward rests
//     on what a record says of itself.
//   - Nothing outside of the task decides: what an environment needs to know is in
//     Task.Parameters.
//   - The goals of an episode take the place of hidden tests. Task.FailToPass names
//     them, the task's rule makes a reward of those that were reached, and nothing
//     the agent writes is believed.
//
// docs/environments.md tells how another one is made.
package environment

import "millrace/schemas"

// Environment begins episodes of one kind of task. It is safe for concurrent use.
type Environment interface {
	// Start begins an episode of a task whose Environment names this one. Its error
	// is that of Task.Parameters, which no further attempt mends.
	Start(task schemas.Task) (Episode, error)
}

// Episode is one play of one task. It is not safe for concurrent use, holds nothing
// that must be released, and never panics on a turn.
type Episode interface {
	// Prompt returns the messages before the first turn. It is asked once, before Step.
	Prompt() (system, user string)
	// Step takes a turn as the agent wrote it. After an answer that is Done it must
	// not be called.
	Step(turn string) Answer
	// Actions are words of which each, written as a whole turn, is understood now.
	// They are what a player without a plan draws from.
	Actions() []string
	// Reached are the goals reached so far.
	Reached() []string
}

// Answer is what an episode says to a turn.
type Answer struct {
	// Action is the action read from the turn, in one spelling whatever the turn's;
	// empty if there was none, and then nothing in the world has changed.
	Action string
	// Observation is what the agent sees next. It is never empty, and the agent does
	// not see that of an episode that is Done.
	Observation string
	// Done is true when the episode has come to its end.
	Done bool
}
