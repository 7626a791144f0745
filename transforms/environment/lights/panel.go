package lights

import (
	"fmt"
	"math/bits"
)

// maxLamps bounds a panel: its lamps are the bits of one word.
const maxLamps = 25

// shape is the size of a panel, and whether a press switches the neighbours too.
type shape struct {
	width, height int
	crossed       bool
}

func (s shape) lamps() int { return s.width * s.height }

// panel is the state of the lamps, row by row from bit 0; a bit is set where one is
// on.
type panel uint32

// toggles are the lamps that pressing one switches.
func (s shape) toggles(lamp int) panel {
	row, col := lamp/s.width, lamp%s.width
	out := panel(1) << lamp
	if !s.crossed {
		return out
	}
	if row > 0 {
		out |= 1 << (lamp - s.width)
	}
	if row < s.height-1 {
		out |= 1 << (lamp + s.width)
	}
	if col > 0 {
		out |= 1 << (lamp - 1)
	}
	if col < s.width-1 {
		out |= 1 << (lamp + 1)
	}
	return out
}

// pressed is the panel after each lamp of a set was pressed once. The order does not
// matter, and a second press undoes the first.
func (s shape) pressed(p, lamps panel) panel {
	for rest := uint32(lamps); rest != 0; rest &= rest - 1 {
		p ^= s.toggles(bits.TrailingZeros32(rest))
	}
	return p
}

// shortest is the least number of presses that switches all lamps off, -1 if none
// does. On a crossed panel the presses of the first row decide all others: only the
// lamp below can still switch off one of the row above. So 2^width first rows are
// tried.
func (s shape) shortest(start panel) int {
	if !s.crossed {
		return bits.OnesCount32(uint32(start))
	}
	best := -1
	for first := range panel(1) << s.width {
		presses := first
		p := s.pressed(start, first)
		for row := 1; row < s.height; row++ {
			above := p >> ((row - 1) * s.width) & (1<<s.width - 1)
			here := above << (row * s.width)
			presses |= here
			p = s.pressed(p, here)
		}
		if n := bits.OnesCount32(uint32(presses)); p == 0 && (best < 0 || n < best) {
			best = n
		}
	}
	return best
}

// name is a lamp's letter: they are named row by row.
func (s shape) name(lamp int) string { return string(rune('a' + lamp)) }

// view is one word a lamp, row by row: " on" or " off" would say as much, but a word
// that names the lamp too spares a small policy the counting.
func (s shape) view(p panel) string {
	text := make([]byte, 0, 3*s.lamps())
	for lamp := range s.lamps() {
		state := byte('O')
		if p>>lamp&1 == 1 {
			state = 'X'
		}
		text = fmt.Appendf(text, " %c%s", state, s.name(lamp))
	}
	return string(text)
}
