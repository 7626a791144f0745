package warmstart

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"millrace/transforms/inject"
	"millrace/transforms/rollout/tools"
)

// Habits are the probabilities with which the expert does what a good engineer
// would not. They make demonstrations that hold mistakes, error observations
// and recovery, and leave room for reinforcement learning: the expert gives up
// too early, and a policy that copies it does so too.
type Habits struct {
	// GiveUp is the probability to submit although the tests just failed.
	GiveUp float64 `yaml:"give_up"`
	// Patient is the probability of a rollout in which the expert never gives up:
	// a policy can only learn to go on where it has seen long rollouts.
	Patient float64 `yaml:"patient"`
	// SkipTest is the probability to submit an edit without running the tests.
	SkipTest float64 `yaml:"skip_test"`
	// TestFirst is the probability to run the tests before any edit.
	TestFirst float64 `yaml:"test_first"`
	// Slip is the probability of an edit that names text the file does not hold.
	// When it is refused the expert tries once more or goes on, as often the one as
	// the other. The policy is shown slips and not trained to make them.
	Slip float64 `yaml:"slip"`
	// LookAgain is the probability to view the file again after an undo.
	LookAgain float64 `yaml:"look_again"`
	// Fiddle is the probability to undo an edit without running the tests.
	Fiddle float64 `yaml:"fiddle"`
}

// DefaultHabits solve about four in ten of the default tasks.
var DefaultHabits = Habits{GiveUp: 0.45, Patient: 0.3, SkipTest: 0.04, TestFirst: 0.15, Slip: 0.1, LookAgain: 0.02}

// DrillHabits are those of a drill: edit after edit, each undone at once.
var DrillHabits = Habits{Fiddle: 1, Slip: 0.05}

// expert is the scripted agent as a state machine over observations. It knows
// nothing of the task but what it is shown: it reads the file, lists its
// operators, tries the edits that would undo a small slip, runs the visible tests
// and undoes what did not help. It goes down the list and says before each edit
// where it is: what was tried last then says what to try next, and nothing is
// tried twice.
type expert struct {
	habits Habits
	kinds  []inject.Kind
	rng    *rand.Rand
	path   string

	state      state
	candidates []candidate // from top to bottom of the file as first viewed
	listed     bool
	at         int // the last tried candidate, -1 before the first
	words      int // on each side, that its edit had
}

type state int

const (
	looking state = iota // about to view the file
	viewed               // waiting for the file's text
	listing              // waiting for the list of operators
	edited               // waiting for the editor's answer
	tested               // waiting for the tests' result
	undone               // waiting for the undo's answer
)

// turn is what the expert says: a thought, often none, and a call.
type turn struct {
	thought string
	call    tools.Call
}

func (t turn) String() string { return t.thought + tools.Format(t.call) }

func newExpert(h Habits, kinds []inject.Kind, rng *rand.Rand, path string) *expert {
	e := &expert{habits: h, kinds: kinds, rng: rng, path: path, at: -1}
	if e.chance(h.Patient) {
		e.habits.GiveUp = 0
	}
	return e
}

func (e *expert) chance(p float64) bool { return e.rng.Float64() < p }

// next decides the turn after an observation; the first observation is the
// task's own text.
func (e *expert) next(observation string) turn {
	switch e.state {
	case looking:
		if e.chance(e.habits.TestFirst) {
			return e.runTests(looking)
		}
		return e.view()
	case viewed:
		if e.listed { // looked again
			return e.try()
		}
		if e.candidates = candidates(observation, e.kinds); len(e.candidates) == 0 {
			return finish()
		}
		return e.list()
	case listing:
		e.candidates, e.listed = locate(e.candidates, entries(observation)), true
		return e.try()
	case edited:
		if strings.HasPrefix(observation, "ERROR") {
			return e.again(observation)
		}
		if e.chance(e.habits.Fiddle) {
			return e.undo()
		}
		if e.chance(e.habits.SkipTest) {
			return finish()
		}
		return e.runTests(tested)
	case tested:
		if passed(observation) || e.chance(e.habits.GiveUp) {
			return finish()
		}
		return e.undo()
	case undone:
		if e.chance(e.habits.LookAgain) {
			return e.view()
		}
		return e.try()
	}
	panic(fmt.Sprintf("warmstart: expert in state %d", e.state))
}

func (e *expert) view() turn {
	e.state = viewed
	return turn{call: tools.Call{Name: "file_editor", Args: map[string]string{"command": "view", "path": e.path}}}
}

func (e *expert) list() turn {
	e.state = listing
	return turn{call: tools.Call{Name: "execute_bash", Args: map[string]string{"cmd": listOperators + e.path}}}
}

func (e *expert) runTests(next state) turn {
	e.state = next
	if next == looking { // looked at the tests; now the file, whatever they said
		e.habits.TestFirst = 0
	}
	return turn{call: tools.Call{Name: "execute_bash", Args: map[string]string{"cmd": "go test"}}}
}

func finish() turn { return turn{call: tools.Call{Name: "finish"}} }

func (e *expert) undo() turn {
	e.state = undone
	return turn{call: tools.Call{Name: "file_editor", Args: map[string]string{"command": "undo_edit", "path": e.path}}}
}

// try makes the edit of the next candidate, or submits when none is left.
func (e *expert) try() turn {
	if e.at+1 >= len(e.candidates) {
		return finish()
	}
	c := e.candidates[e.at+1]
	edit := c.edit(1)
	if e.chance(e.habits.Slip) {
		if e.chance(0.5) {
			e.at++ // and it does not come back to this one
		}
		return e.replace(c.entry.String(), edit.after, edit.before) // text that the file does not hold
	}
	e.at, e.words = e.at+1, 1
	return e.replace(c.entry.String(), edit.before, edit.after)
}

// again answers an edit that was refused: text that the file holds more than
// once is tried with more words around it, as long as its line has any.
func (e *expert) again(refusal string) turn {
	if e.at >= 0 && strings.Contains(refusal, "more than once") {
		narrow, wide := e.candidates[e.at].edit(e.words), e.candidates[e.at].edit(e.words+1)
		if wide != narrow {
			e.words++
			return e.replace("", wide.before, wide.after)
		}
	}
	return e.try()
}

func (e *expert) replace(thought, from, to string) turn {
	e.state = edited
	return turn{thought, tools.Call{Name: "file_editor", Args: map[string]string{
		"command": "str_replace", "path": e.path, "old_str": from, "new_str": to,
	}}}
}

// passed tells a good end of "go test" in a directory, which prints PASS first,
// and of "go test ./...", which does not.
func passed(observation string) bool {
	return strings.HasPrefix(observation, "PASS\n") || strings.HasPrefix(observation, "ok")
}
