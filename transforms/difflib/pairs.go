package difflib

import "math/bits"

// pairs numbers pairs of names in the order of their first coming. Its zero value is
// empty.
//
// It is an open hash table of keys and values. Slots are of the table's present life if
// they bear its number, so that a new life costs nothing, not even for a table that has
// been large.
type pairs struct {
	slots []slot
	life  uint32
	shift int // the hash's top 64-shift bits are the slot
	n     int32
}

type slot struct {
	key  uint64
	life uint32
	id   int32
}

// spread is 2^64 over the golden ratio: Knuth's multiplicative hash (The Art of
// Computer Programming, volume 3, section 6.4).
const spread = 0x9e3779b97f4a7c15

// reset empties the table and makes it roomy for at most n pairs: two slots for each.
func (p *pairs) reset(n int) {
	size := 1 << bits.Len(uint(2*n))
	if size > len(p.slots) {
		p.slots = make([]slot, size)
		p.life = 0
	}
	p.life++
	if p.life == 0 { // it has gone round: old slots would come to life again
		clear(p.slots)
		p.life = 1
	}
	p.shift = 64 - bits.Len(uint(size-1))
	p.n = 0
}

// pair is the key of two names. Neither is none.
func pair(first, second int32) uint64 { return uint64(first)<<32 | uint64(second) }

// put returns the number of a pair, a new one if it has none.
func (p *pairs) put(key uint64) int32 {
	s := p.find(key)
	if s.life != p.life {
		*s = slot{key, p.life, p.n}
		p.n++
	}
	return s.id
}

// get returns the number of a pair, none if it has none.
func (p *pairs) get(key uint64) int32 {
	if s := p.find(key); s.life == p.life {
		return s.id
	}
	return none
}

// find returns the slot that holds the key, or a free one.
func (p *pairs) find(key uint64) *slot {
	mask := uint64(1)<<(64-p.shift) - 1
	for i := key * spread >> p.shift; ; i = (i + 1) & mask {
		s := &p.slots[i]
		if s.life != p.life || s.key == key {
			return s
		}
	}
}
