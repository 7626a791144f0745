package difflib

// none is the name of what has no equal in the other text.
const none = int32(-1)

// grams are the names of the substrings of one length, by the position where they
// start.
//
// Invariant: a[i] == b[j] != none exactly if the substrings that start at i and j are
// equal and each of their elements has a name. A name other than none stands in both a
// and b.
type grams struct {
	length int
	a, b   []int32
	named  int // positions of b with a name
}

// newGrams takes names of substrings of one length, in 0 to count-1, and takes away
// those that only one text has.
func newGrams(length int, a, b []int32, count int32) grams {
	const inA, inB = 1, 2
	stands := make([]uint8, count)
	mark := func(names []int32, in uint8) {
		for _, name := range names {
			if name != none {
				stands[name] |= in
			}
		}
	}
	mark(a, inA)
	mark(b, inB)
	prune := func(names []int32) (left int) {
		for i, name := range names {
			switch {
			case name == none:
			case stands[name] == inA|inB:
				left++
			default:
				names[i] = none
			}
		}
		return left
	}
	prune(a)
	return grams{length: length, a: a, b: b, named: prune(b)}
}

// double returns the grams of twice the length: a substring is the pair of its halves.
func (g grams) double(table *pairs) grams {
	table.reset(g.named)
	b := join(g.b, g.length, table.put)
	a := join(g.a, g.length, table.get)
	return newGrams(2*g.length, a, b, table.n)
}

// join names what starts at each position by number, which is given the pair of names
// that stand length apart.
func join(names []int32, length int, number func(uint64) int32) []int32 {
	joined := make([]int32, max(0, len(names)-length))
	for i := range joined {
		if names[i] == none || names[i+length] == none {
			joined[i] = none
			continue
		}
		joined[i] = number(pair(names[i], names[i+length]))
	}
	return joined
}
