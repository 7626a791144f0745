package frozenlake

import "millrace/transforms/environment/numpy"

// Move is a direction, numbered as rLLM numbers its actions.
type Move int

// The moves. None is the turn that names none.
const (
	None Move = iota
	Left
	Down
	Right
	Up
)

var names = [...]string{None: "", Left: "left", Down: "down", Right: "right", Up: "up"}

// String is the move in a word.
func (m Move) String() string { return names[m] }

var deltas = [...]place{Left: {0, -1}, Down: {1, 0}, Right: {0, 1}, Up: {-1, 0}}

// walk is a player on a board.
type walk struct {
	board    Board
	at       place
	slippery bool
	rng      *numpy.Generator
}

// newWalk stands at the start. The slips are drawn from a generator of the map's own
// seed, whose first number Gymnasium spends on the choice of the start, so that
// every walk over one map slips alike at the same step.
func newWalk(b Board, seed uint64, slippery bool) *walk {
	w := &walk{board: b, at: b.find(Start), slippery: slippery, rng: numpy.NewGenerator(seed)}
	w.rng.Float64()
	return w
}

// move takes a step: on slippery ice in the intended direction or one of the two
// beside it, each with probability 1/3. At the edge the player stays. None draws
// nothing.
func (w *walk) move(m Move) {
	if m == None {
		return
	}
	if slip := w.rng.Float64(); w.slippery {
		m = slipped(m, slip)
	}
	if next := (place{w.at.row + deltas[m].row, w.at.col + deltas[m].col}); w.board.holds(next) {
		w.at = next
	}
}

// slipped is the move that a uniform number makes of one: the direction before it,
// itself, or the one after it, in Gymnasium's order left, down, right, up.
func slipped(m Move, u float64) Move {
	intended := 1.0 / 3.0
	aside := (1.0 - intended) / 2.0
	choice := 0
	switch {
	case u < aside:
	case u < aside+intended:
		choice = 1
	case u < aside+intended+aside:
		choice = 2
	}
	return Move((int(m)-1+choice-1+4)%4 + 1)
}

// over is true in a hole and at the goal.
func (w *walk) over() bool { return w.board.at(w.at) == Hole || w.board.at(w.at) == Goal }

func (w *walk) solved() bool { return w.board.at(w.at) == Goal }
