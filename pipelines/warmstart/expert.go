package warmstart

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
	Slip float64 `yaml:"slip"`
	// LookAgain is the probability to view the file again after an undo.
	LookAgain float64 `yaml:"look_again"`
	// Fiddle is the probability to undo an edit without running the tests.
	Fiddle float64 `yaml:"fiddle"`
	// Wander is the probability to go on at a random place of the file instead of
	// the next one.
	Wander float64 `yaml:"wander"`
}

// DefaultHabits solve about four in ten of the default tasks.
var DefaultHabits = Habits{GiveUp: 0.4, Patient: 0.2, SkipTest: 0.04, TestFirst: 0.15, Slip: 0.03, LookAgain: 0.08, Wander: 0.03}

// DrillHabits are those of a drill: edit after edit, each undone at once.
var DrillHabits = Habits{Fiddle: 1, Slip: 0.03, Wander: 0.1}

// expert is the scripted agent as a state machine over observations. It knows
// nothing of the task but what it is shown: it reads the file, tries the edits
// that would undo a small slip, runs the visible tests and undoes what did not
// help. It begins anywhere and goes through the file from there, at the end on
// from the top: what was tried last then says what to try next, and nothing is
// tried twice.
type expert struct {
	habits Habits
	kinds  []inject.Kind
	rng    *rand.Rand
	path   string

	state      state
	candidates []candidate  // of the file as last viewed, from top to bottom
	at         int          // the last tried candidate, -1 before the first
	words      int          // on each side, that its edit had
	tried      map[int]bool // candidates
}

type state int

const (
	looking state = iota // about to view the file
	viewed               // waiting for the file's text
	edited               // waiting for the editor's answer
	tested               // waiting for the tests' result
	undone               // waiting for the undo's answer
)

func newExpert(h Habits, kinds []inject.Kind, rng *rand.Rand, path string) *expert {
	e := &expert{habits: h, kinds: kinds, rng: rng, path: path, at: -1, tried: map[int]bool{}}
	if e.chance(h.Patient) {
		e.habits.GiveUp = 0
	}
	return e
}

func (e *expert) chance(p float64) bool { return e.rng.Float64() < p }

// next decides the turn after an observation; the first observation is the
// task's own text.
func (e *expert) next(observation string) tools.Call {
	switch e.state {
	case looking:
		if e.chance(e.habits.TestFirst) {
			return e.runTests(looking)
		}
		return e.view()
	case viewed:
		e.candidates = candidates(observation, e.kinds)
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

func (e *expert) view() tools.Call {
	e.state = viewed
	return tools.Call{Name: "file_editor", Args: map[string]string{"command": "view", "path": e.path}}
}

func (e *expert) runTests(next state) tools.Call {
	e.state = next
	if next == looking { // looked at the tests; now the file, whatever they said
		e.habits.TestFirst = 0
	}
	return tools.Call{Name: "execute_bash", Args: map[string]string{"cmd": "go test"}}
}

func finish() tools.Call { return tools.Call{Name: "finish"} }

func (e *expert) undo() tools.Call {
	e.state = undone
	return tools.Call{Name: "file_editor", Args: map[string]string{"command": "undo_edit", "path": e.path}}
}

// try makes the edit of one more candidate, or submits when none is left.
func (e *expert) try() tools.Call {
	if len(e.tried) >= len(e.candidates) {
		return finish()
	}
	at := (e.at + 1) % len(e.candidates)
	if e.at < 0 || e.chance(e.habits.Wander) {
		at = e.rng.IntN(len(e.candidates))
	}
	edit := e.candidates[at].edit(1)
	if e.chance(e.habits.Slip) {
		return e.replace(edit.after, edit.before) // text that the file does not hold
	}
	e.at, e.words, e.tried[at] = at, 1, true
	return e.replace(edit.before, edit.after)
}

// again answers an edit that was refused: text that the file holds more than
// once is tried with more words around it, as long as its line has any.
func (e *expert) again(refusal string) tools.Call {
	if e.at >= 0 && strings.Contains(refusal, "more than once") {
		narrow, wide := e.candidates[e.at].edit(e.words), e.candidates[e.at].edit(e.words+1)
		if wide != narrow {
			e.words++
			return e.replace(wide.before, wide.after)
		}
	}
	return e.try()
}

func (e *expert) replace(from, to string) tools.Call {
	e.state = edited
	return tools.Call{Name: "file_editor", Args: map[string]string{
		"command": "str_replace", "path": e.path, "old_str": from, "new_str": to,
	}}
}

// passed tells a good end of "go test" in a directory, which prints PASS first,
// and of "go test ./...", which does not.
func passed(observation string) bool {
	return strings.HasPrefix(observation, "PASS\n") || strings.HasPrefix(observation, "ok")
}

// candidate is a change that would undo a fault, if the file has that one.
type candidate struct {
	source string
	inject.Fault
}

// edit replaces one piece of text by another.
type edit struct{ before, after string }

// candidates are the changes that would undo a fault of the given kinds (none:
// all) in the viewed file, from top to bottom.
func candidates(view string, kinds []inject.Kind) []candidate {
	source := strings.Join(fileLines(view), "\n")
	repairs, err := inject.Repairs("viewed.go", []byte(source))
	if err != nil {
		return nil // an edit broke the file's syntax: nothing sensible to try
	}
	var out []candidate
	for _, f := range repairs {
		if len(kinds) == 0 || slices.Contains(kinds, f.Kind) {
			out = append(out, candidate{source, f})
		}
	}
	return out
}

// edit is the change as an edit of as little text as the editor may take: the
// changed text with words on each side, as many as its line has. The less there
// is to copy, the less a small policy gets wrong. The white space before the
// first word belongs to the edit because it belongs to the word's first token in
// the file, and a copy of the same tokens is easier to learn than one of the
// same letters.
func (c candidate) edit(words int) edit {
	start, end := c.Offset, c.Offset+len(c.Before)
	for range words {
		start, end = wordBefore(c.source, start), wordAfter(c.source, end)
	}
	return edit{c.source[start:end], c.source[start:c.Offset] + c.After + c.source[c.Offset+len(c.Before):end]}
}

// wordBefore is where the word before at begins in its line, the white space
// before it included; at itself when there is none.
func wordBefore(s string, at int) int {
	line := strings.LastIndexByte(s[:at], '\n') + 1
	word := strings.TrimRight(s[line:at], " \t")
	if space := strings.LastIndexAny(word, " \t"); space >= 0 {
		return line + space
	}
	if word == "" {
		return at
	}
	return line
}

// wordAfter is where the word after at ends in its line; at itself when there
// is none.
func wordAfter(s string, at int) int {
	rest, _, _ := strings.Cut(s[at:], "\n")
	word := strings.TrimLeft(rest, " \t")
	if word == "" {
		return at
	}
	if space := strings.IndexAny(word, " \t"); space >= 0 {
		word = word[:space]
	}
	return at + strings.Index(rest, word) + len(word)
}

// fileLines undoes the numbering of a view.
func fileLines(view string) []string {
	var lines []string
	for line := range strings.Lines(view) {
		if _, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			lines = append(lines, text)
		}
	}
	return lines
}
