package frozenlake

import "millrace/transforms/environment/numpy"

// Tile is one tile of a board.
type Tile byte

// The tiles.
const (
	Frozen Tile = 'F'
	Hole   Tile = 'H'
	Start  Tile = 'S'
	Goal   Tile = 'G'
)

// Board is a square map, row by row.
type Board struct {
	Size  int
	Tiles []Tile
}

// place is a tile's row and column.
type place struct{ row, col int }

func (b Board) at(p place) Tile { return b.Tiles[p.row*b.Size+p.col] }

func (b Board) holds(p place) bool {
	return p.row >= 0 && p.row < b.Size && p.col >= 0 && p.col < b.Size
}

// find is the place of a tile that the board has once.
func (b Board) find(t Tile) place {
	for i, tile := range b.Tiles {
		if tile == t {
			return place{i / b.Size, i % b.Size}
		}
	}
	return place{}
}

// String is one line of tiles a row.
func (b Board) String() string {
	text := make([]byte, 0, len(b.Tiles)+b.Size)
	for i, t := range b.Tiles {
		if i > 0 && i%b.Size == 0 {
			text = append(text, '\n')
		}
		text = append(text, byte(t))
	}
	return string(text)
}

// NewBoard draws a board of a seed: each tile frozen with probability p and a hole
// otherwise, start and goal two different tiles at random. It draws again until the
// goal can be reached within about maxSteps steps. size is at least 2.
//
// p is the share of frozen tiles. rLLM's README calls it the probability of the
// intended move, which it is not.
func NewBoard(seed uint64, size int, p float64, maxSteps int) Board {
	rng := numpy.NewGenerator(seed)
	b := Board{Size: size, Tiles: make([]Tile, size*size)}
	for {
		for i := range b.Tiles {
			if b.Tiles[i] = Hole; rng.Bernoulli(min(1, p)) {
				b.Tiles[i] = Frozen
			}
		}
		var start, goal place
		for start == goal {
			start = place{rng.IntN(size), rng.IntN(size)}
			goal = place{rng.IntN(size), rng.IntN(size)}
		}
		b.Tiles[start.row*size+start.col] = Start
		b.Tiles[goal.row*size+goal.col] = Goal
		if b.reachable(maxSteps) {
			return b
		}
	}
}

// reachable looks for the goal depth first, and not beyond a tile that it came to
// in more than maxSteps steps. As each tile is entered once, by whatever way comes
// first, it may miss a goal that is near enough; a board is then drawn anew. That is
// the original's search, to the order of the neighbours: another would give other
// boards.
func (b Board) reachable(maxSteps int) bool {
	type visit struct {
		place
		steps int
	}
	frontier := []visit{{b.find(Start), 0}}
	seen := make([]bool, len(b.Tiles))
	for len(frontier) > 0 {
		v := frontier[len(frontier)-1]
		frontier = frontier[:len(frontier)-1]
		if i := v.row*b.Size + v.col; v.steps > maxSteps || seen[i] {
			continue
		} else {
			seen[i] = true
		}
		for _, d := range [...]place{{1, 0}, {0, 1}, {-1, 0}, {0, -1}} {
			next := place{v.row + d.row, v.col + d.col}
			switch {
			case !b.holds(next):
			case b.at(next) == Goal:
				return true
			case b.at(next) != Hole:
				frontier = append(frontier, visit{next, v.steps + 1})
			}
		}
	}
	return false
}
