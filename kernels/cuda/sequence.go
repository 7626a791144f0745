package cuda

import "container/list"

// sequence is the tokens of a session and what the cache holds of them. A sequence whose
// pages were taken away reads its tokens again when it is next asked to go on.
//
// Invariant: pages hold the keys and values of the first cached tokens, and the first
// recorded of them are full and, as prefixes, known to the index.
type sequence struct {
	tokens []int32
	cached int
	pages  []int32

	recorded int
	entry    uint64 // of the last recorded page, or the root
	version  int64  // of the weights that made the pages
	mixed    bool   // other weights made some of them: no more are shared

	idle *list.Element // among the sessions that hold pages and have no call
}

// pending is the number of tokens that are not in the cache.
func (q *sequence) pending() int { return len(q.tokens) - q.cached }

// next is the prefix of the page that the sequence goes on with. There is none in the middle
// of a page, or if the page would hold the last token too, which must be read to be
// continued.
func (q *sequence) next(p *pages) (key prefix, ok bool) {
	if q.cached == 0 {
		q.recorded, q.entry, q.version, q.mixed = 0, p.root, p.version, false
	}
	if q.mixed || q.version != p.version || q.cached != q.recorded*pageTokens || q.pending() <= pageTokens {
		return key, false
	}
	key.before = q.entry
	copy(key.tokens[:], q.tokens[q.cached:])
	return key, true
}

// adopt takes as many pages of the sequence's prefix as others have made, and returns the
// number of their tokens.
func (q *sequence) adopt(p *pages) (tokens int) {
	for {
		key, ok := q.next(p)
		if !ok {
			return tokens
		}
		n, entry, ok := p.share(&key)
		if !ok {
			return tokens
		}
		q.pages = append(q.pages, n)
		q.entry = entry
		q.recorded++
		q.cached += pageTokens
		tokens += pageTokens
	}
}

// advance notes that weights of a version have written the next n tokens into the cache, and
// records what became full.
func (q *sequence) advance(n int, version int64, p *pages) {
	q.cached += n
	q.mixed = q.mixed || version != q.version
	for !q.mixed && q.version == p.version && (q.recorded+1)*pageTokens <= q.cached {
		key := prefix{before: q.entry}
		copy(key.tokens[:], q.tokens[q.recorded*pageTokens:])
		q.entry = p.record(q.pages[q.recorded], &key)
		q.recorded++
	}
}

// drop gives the sequence's pages back.
func (q *sequence) drop(p *pages) {
	p.release(q.pages)
	q.pages, q.cached, q.recorded = q.pages[:0], 0, 0
}

// pagesFor is the number of pages of so many tokens.
func pagesFor(tokens int) int { return (tokens + pageTokens - 1) / pageTokens }
