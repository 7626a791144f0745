package difflib

import "math/bits"

// small is the product of a window's sides up to which comparing every element with
// every other is faster than looking at names. BenchmarkRatio is flat from 2^9 to 2^13.
const small = 1 << 11

// find returns the longest run of matching elements in a window; of several the one
// that starts first in a, and of these the one that starts first in b. It is of size 0
// and stands at the window's start if nothing matches.
func (m *matcher) find(w window) (block, error) {
	height, width := w.ahi-w.alo, w.bhi-w.blo
	w.most = min(w.most, height, width, 1<<len(m.levels)-1)
	if height*width <= m.small {
		return m.findSmall(w), m.spend(height * width)
	}
	if front, ok := m.findAtFront(w); ok {
		return front, m.spend(2 * reach)
	}
	for w.most > 0 {
		g := &m.levels[bits.Len(uint(w.most))-1]
		if err := m.spend(height + width); err != nil {
			return block{}, err
		}
		if m.starts(g, w) {
			return m.bisect(g, w)
		}
		w.most = g.length - 1
	}
	return block{w.alo, w.blo, 0}, nil
}

// findSmall keeps, for every column, the length of the run that ends there: what
// CPython does.
func (m *matcher) findSmall(w window) block {
	best := block{w.alo, w.blo, 0}
	if w.most == 0 {
		return best
	}
	columns := m.levels[0].b[w.blo:w.bhi]
	if m.run == nil {
		m.run = make([]int32, m.small)
	}
	run := m.run[:len(columns)]
	clear(run)
	for i, name := range m.levels[0].a[w.alo:w.ahi] {
		before := int32(0) // the run that ends one row up and one column to the left
		for j, other := range columns {
			here := int32(0)
			if name == other && name != none {
				here = before + 1
				if size := int(here); size > best.size {
					best = block{w.alo + i + 1 - size, w.blo + j + 1 - size, size}
				}
			}
			before, run[j] = run[j], here
		}
		if best.size == w.most {
			return best
		}
	}
	return best
}

// reach is how far findAtFront looks from the start of a window.
const reach = 64

// findAtFront returns a match of the length w.most, than which there is none longer, if
// it starts where in a the first can start and, in b, not far from the window's start.
// In texts that are periodic it often does, and a find that looks at the whole window
// each time takes the square of their length.
func (m *matcher) findAtFront(w window) (block, bool) {
	if w.most == 0 {
		return block{}, false
	}
	g := &m.levels[bits.Len(uint(w.most))-1]
	rest := w.most - g.length
	alast, blast := min(w.alo+reach, w.ahi-w.most), min(w.blo+reach, w.bhi-w.most)
	i := w.alo
	for i <= alast && (g.a[i] == none || g.a[i+rest] == none) {
		i++
	}
	if i > alast {
		return block{}, false
	}
	first := key(g.a, i, rest)
	for j := w.blo; j <= blast; j++ {
		if g.b[j] != none && g.b[j+rest] != none && key(g.b, j, rest) == first {
			return block{i, j, w.most}, true
		}
	}
	return block{}, false
}

// starts collects the positions of a window at which a common substring of the length
// of g starts, and tells whether there are any.
func (m *matcher) starts(g *grams, w window) bool {
	a := part(g.a, w.alo, w.ahi-g.length+1)
	b := part(g.b, w.blo, w.bhi-g.length+1)
	m.mark(b)
	m.inA = m.marked(m.inA[:0], a, w.alo)
	if len(m.inA) == 0 {
		return false
	}
	m.mark(a)
	m.inB = m.marked(m.inB[:0], b, w.blo)
	return true
}

// part is names[lo:hi], where hi may lie behind the end.
func part(names []int32, lo, hi int) []int32 {
	hi = min(hi, len(names))
	return names[min(lo, hi):hi]
}

// mark unmarks all names, and marks these.
func (m *matcher) mark(names []int32) {
	m.life++
	for _, name := range names {
		if name != none {
			m.marks[name] = m.life
		}
	}
}

// marked appends the positions, counted from start, whose names are marked.
func (m *matcher) marked(positions, names []int32, start int) []int32 {
	for i, name := range names {
		if name != none && m.marks[name] == m.life {
			positions = append(positions, int32(start+i))
		}
	}
	return positions
}
