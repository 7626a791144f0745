package difflib

import "slices"

// bisect returns the longest match of a window that has one of the length of g, at the
// positions that starts has left, and none longer than w.most, which is less than twice
// the length.
//
// Invariant: inA and inB are the positions, ascending, at which a common substring of
// the length known starts.
func (m *matcher) bisect(g *grams, w window) (block, error) {
	known := g.length
	for known < w.most {
		length := (known + w.most + 1) / 2
		if err := m.spend(2 * (len(m.inA) + len(m.inB))); err != nil {
			return block{}, err
		}
		if m.narrow(g, w, length) {
			known = length
		} else {
			w.most = length - 1
		}
	}
	first := key(g.a, int(m.inA[0]), known-g.length)
	j := slices.IndexFunc(m.inB, func(j int32) bool { return key(g.b, int(j), known-g.length) == first })
	return block{int(m.inA[0]), int(m.inB[j]), known}, nil
}

// narrow drops the positions at which no common substring of a length starts, unless
// that would drop all.
func (m *matcher) narrow(g *grams, w window, length int) bool {
	rest := length - g.length
	m.table.reset(len(m.inB))
	for _, j := range m.inB {
		if int(j)+length <= w.bhi && g.b[int(j)+rest] != none {
			m.table.put(key(g.b, int(j), rest))
		}
	}
	m.life++
	kept := m.spare[:0]
	for _, i := range m.inA {
		if int(i)+length > w.ahi || g.a[int(i)+rest] == none {
			continue
		}
		if id := m.table.get(key(g.a, int(i), rest)); id != none {
			m.marks[id] = m.life
			kept = append(kept, i)
		}
	}
	m.spare = kept
	if len(kept) == 0 {
		return false
	}
	m.inA, m.spare = m.spare, m.inA
	m.inB = slices.DeleteFunc(m.inB, func(j int32) bool {
		if int(j)+length > w.bhi || g.b[int(j)+rest] == none {
			return true
		}
		id := m.table.get(key(g.b, int(j), rest))
		return m.marks[id] != m.life
	})
	return true
}

// key names the substring that starts at i and is longer than a gram by rest, at most
// its length: by the gram that it starts with, and the gram that it ends with.
func key(names []int32, i, rest int) uint64 { return pair(names[i], names[i+rest]) }
