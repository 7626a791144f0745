package tokenizer

// pair is two adjacent tokens.
type pair struct{ left, right int32 }

// merge is what a pair becomes, and how early.
type merge struct {
	rank int32 // position in the merge list; lower goes first
	id   int32
}

// symbol is one node of the doubly linked list that a word is while it is
// merged. Links are indexes, -1 at the ends.
type symbol struct {
	id         int32
	prev, next int32
	gone       bool // swallowed by its left neighbour
}

// candidate is a pair that could be merged: the symbol at position left and the
// one after it, which were want when the candidate was found.
type candidate struct {
	rank int32
	left int32
	want pair
}

func earlier(a, b *candidate) bool {
	return a.rank < b.rank || a.rank == b.rank && a.left < b.left
}

// appendMerged appends the tokens of one word: of all adjacent pairs in the merge
// list the one of lowest rank, and of these the leftmost, is joined until none is
// left. It takes O(n log n) for n bytes, so a word without end costs no more than
// its share.
func (t *Tokenizer) appendMerged(ids []int32, word string) []int32 {
	symbols := make([]symbol, len(word))
	for i := range symbols {
		symbols[i] = symbol{id: t.byteIDs[word[i]], prev: int32(i) - 1, next: int32(i) + 1}
	}
	symbols[len(symbols)-1].next = -1

	queue := heap[candidate]{less: earlier}
	consider := func(left int32) {
		if left < 0 || symbols[left].next < 0 {
			return
		}
		want := pair{symbols[left].id, symbols[symbols[left].next].id}
		if m, ok := t.merges[want]; ok {
			queue.push(candidate{rank: m.rank, left: left, want: want})
		}
	}
	for i := range symbols {
		consider(int32(i))
	}
	for {
		c, ok := queue.pop()
		if !ok {
			break
		}
		left := &symbols[c.left]
		if left.gone || left.next < 0 || (pair{left.id, symbols[left.next].id}) != c.want {
			continue // one of the two has been merged with another since
		}
		right := &symbols[left.next]
		left.id = t.merges[c.want].id
		right.gone = true
		left.next = right.next
		if left.next >= 0 {
			symbols[left.next].prev = c.left
		}
		consider(left.prev)
		consider(c.left)
	}
	for i := int32(0); i >= 0; i = symbols[i].next {
		ids = append(ids, symbols[i].id)
	}
	return ids
}
