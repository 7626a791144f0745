package difflib

import (
	"cmp"
	"slices"
)

// block is a run that two texts have in common: size elements from a and b on.
type block struct{ a, b, size int }

// window is a part of both texts, half open, in which no run of matching elements is
// longer than most.
type window struct {
	alo, ahi, blo, bhi int
	most               int
}

// matcher finds the blocks of two texts, given as numbers of their elements: equal
// elements have equal numbers. It is used once.
type matcher struct {
	*meter
	a, b   []int32
	levels []grams // of the lengths 1, 2, 4, ..., as long as any are in common

	small int // the product of a window's sides up to which findSmall is faster

	// What finding one match after the other uses again.
	table           pairs
	marks           []int32 // by name: the last life in which it was marked
	life            int32
	inA, inB, spare []int32 // positions
	run             []int32 // by column of a small window: the length of the run that ends there
}

// newMatcher compares elements that are numbered below count. Of the popular ones, by
// number, no match is made; they only extend one. Nil says that there are none.
func newMatcher(meter *meter, a, b []int32, count int, popular []bool) (*matcher, error) {
	m := &matcher{meter: meter, a: a, b: b, small: small, marks: make([]int32, max(count, len(b)))}
	for g := newGrams(1, matchable(a, popular), matchable(b, popular), int32(count)); g.named > 0; g = g.double(&m.table) {
		m.levels = append(m.levels, g)
		if err := m.spend(2 * (len(a) + len(b))); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// matchable are the numbers as names: the popular elements have none.
func matchable(numbers []int32, popular []bool) []int32 {
	names := slices.Clone(numbers)
	if popular == nil {
		return names
	}
	for i, n := range names {
		if popular[n] {
			names[i] = none
		}
	}
	return names
}

// blocks returns the matching blocks, sorted, where adjacent ones may touch in both
// texts.
func (m *matcher) blocks() ([]block, error) {
	var found []block
	stack := []window{{0, len(m.a), 0, len(m.b), min(len(m.a), len(m.b))}}
	for len(stack) > 0 {
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		longest, err := m.find(w)
		if err != nil {
			return nil, err
		}
		most := longest.size
		longest = m.extend(longest, w)
		if longest.size == 0 {
			continue
		}
		found = append(found, longest)
		left := window{w.alo, longest.a, w.blo, longest.b, most}
		right := window{longest.a + longest.size, w.ahi, longest.b + longest.size, w.bhi, most}
		for _, w := range []window{left, right} {
			if w.alo < w.ahi && w.blo < w.bhi {
				stack = append(stack, w)
			}
		}
	}
	slices.SortFunc(found, func(x, y block) int { return cmp.Compare(x.a, y.a) })
	return found, nil
}

// extend grows a block to both sides by equal elements, popular ones among them. Where
// there are none it finds nothing to add. A block of size 0 stands at the window's
// start and grows to the right.
func (m *matcher) extend(x block, w window) block {
	for x.a > w.alo && x.b > w.blo && m.a[x.a-1] == m.b[x.b-1] {
		x = block{x.a - 1, x.b - 1, x.size + 1}
	}
	for x.a+x.size < w.ahi && x.b+x.size < w.bhi && m.a[x.a+x.size] == m.b[x.b+x.size] {
		x.size++
	}
	return x
}
