package frozenlake

import (
	"cmp"
	"errors"
	"fmt"

	"millrace/schemas"
	"millrace/transforms/environment"
)

// Name is what tasks call the environment.
const Name = "frozenlake"

// GoalReached is the only goal of a task.
const GoalReached = "goal reached"

// Parameters are what an episode is made of.
type Parameters struct {
	// Seed, Size and P make the map; see [NewBoard].
	Seed uint64  `json:"seed"`
	Size int     `json:"size"`
	P    float64 `json:"p"`
	// Reach bounds the search for a way to the goal when the map is made: max_steps
	// of rLLM's environment, 8 in its script. Later versions of rLLM forget it on
	// reset and make the map anew with 5.
	Reach int `json:"reach"`
	// Slippery is Gymnasium's is_slippery.
	Slippery bool `json:"slippery"`
	// Protocol is what the agent reads and how it answers.
	Protocol Protocol `json:"protocol"`
	// Steps is the number of steps that the agent is told it has, which
	// rollout.limits.steps enforces; 0 tells nothing.
	Steps int `json:"steps"`
}

// Bounds of the parameters. Seeds are below 2^53, so that every reader of JSON has
// them whole.
const (
	minSize, maxSize = 2, 26
	minP             = 0.1 // below, boards with a way to the goal are rare
	maxSeed          = 1 << 53
)

// Validate reports everything that is wrong with the parameters.
func (p Parameters) Validate() error {
	var errs []error
	if p.Seed >= maxSeed {
		errs = append(errs, fmt.Errorf("seed is %d: want less than 2^53", p.Seed))
	}
	if p.Size < minSize || p.Size > maxSize {
		errs = append(errs, fmt.Errorf("size is %d: want %d to %d", p.Size, minSize, maxSize))
	}
	if !(p.P >= minP && p.P <= 1) {
		errs = append(errs, fmt.Errorf("p is %v: want %v to 1", p.P, minP))
	}
	if p.Reach < 1 || p.Steps < 0 {
		errs = append(errs, fmt.Errorf("reach is %d and steps %d: want at least 1 and 0", p.Reach, p.Steps))
	}
	if _, ok := protocols[p.Protocol]; !ok {
		errs = append(errs, fmt.Errorf("protocol is %q: want %s or %s", p.Protocol, Compact, Published))
	}
	return errors.Join(errs...)
}

// Environment is the environment of FrozenLake tasks.
type Environment struct{}

// Start begins an episode.
func (Environment) Start(task schemas.Task) (environment.Episode, error) {
	p, err := environment.Parameters[Parameters](task)
	if err != nil {
		return nil, err
	}
	board := NewBoard(p.Seed, p.Size, p.P, p.Reach)
	return &episode{walk: newWalk(board, p.Seed, p.Slippery), speech: protocols[p.Protocol], steps: p.Steps}, nil
}

type episode struct {
	*walk
	speech
	steps int // told to the agent; 0: not told
	taken int
	seen  string // the last view
}

// Prompt implements environment.Episode.
func (e *episode) Prompt() (system, user string) {
	e.seen = e.view(e.walk)
	return e.system(e.slippery), e.frame(e.turn(false))
}

// Step implements environment.Episode.
func (e *episode) Step(turn string) environment.Answer {
	m := e.read(turn)
	e.move(m)
	e.taken++
	before := e.seen
	e.seen = e.view(e.walk)
	return environment.Answer{Action: m.String(), Observation: e.frame(e.turn(e.seen == before)), Done: e.over()}
}

// turn is what is to be told.
func (e *episode) turn(unmoved bool) turn {
	return turn{view: e.seen, taken: e.taken, left: max(0, e.steps-e.taken), unmoved: unmoved, over: e.over()}
}

// Actions implements environment.Episode.
func (e *episode) Actions() []string { return e.words }

// Reached implements environment.Episode.
func (e *episode) Reached() []string {
	if e.solved() {
		return []string{GoalReached}
	}
	return nil
}

// glyph is how a tile is shown: the player stands over whatever is there.
func (w *walk) glyph(p place) glyph {
	tile := w.board.at(p)
	switch {
	case p == w.at && tile == Hole:
		return drowned
	case p == w.at && tile == Goal:
		return arrived
	case p == w.at:
		return player
	}
	return cmp.Or(map[Tile]glyph{Hole: hole, Goal: goal}[tile], ice)
}
