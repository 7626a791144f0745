package cuda

import "container/list"

// pageTokens is the number of positions in a page of the cache, MR_PAGE_TOKENS.
const pageTokens = 64

// prefix names a full page by what its keys and values depend on: the pages before it and
// its own tokens. The tokens are compared, not a hash of them, so two prefixes are never
// taken for one.
type prefix struct {
	before uint64 // the entry of the page before it, or the root
	tokens [pageTokens]int32
}

// page is one page of the cache.
type page struct {
	references int           // sequences that hold it
	entry      uint64        // in the index; 0 if it is not there
	prefix     prefix        // of the entry
	unused     *list.Element // among the unused, if it is in the index and nobody holds it
}

// pages are the cache's: who holds which, and which hold a prefix that another sequence may
// share.
//
// Invariants: a page is free, or unused (in the index, held by nobody), or held. A shared
// page is full, so nobody writes to it. All pages of the index were made by the weights of
// one policy version.
type pages struct {
	all     []page
	free    []int32
	unused  *list.List // of page numbers, the one to evict first at the front
	index   map[prefix]int32
	entries uint64 // given so far: an entry is never given twice
	root    uint64
	version int64
}

func newPages(n int, version int64) *pages {
	p := &pages{all: make([]page, n), unused: list.New()}
	for i := range n {
		p.free = append(p.free, int32(n-1-i))
	}
	p.forget(version)
	return p
}

// available is the number of pages that take would give.
func (p *pages) available() int { return len(p.free) + p.unused.Len() }

// take returns a page that nobody holds, at the price of the prefix unused for longest. The
// caller has asked available.
func (p *pages) take() int32 {
	if len(p.free) == 0 {
		p.evict(p.unused.Front().Value.(int32))
	}
	n := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.all[n].references = 1
	return n
}

// evict takes a page out of the index.
func (p *pages) evict(n int32) {
	at := &p.all[n]
	delete(p.index, at.prefix)
	at.entry = 0
	if at.unused != nil {
		p.unused.Remove(at.unused)
		at.unused = nil
		p.free = append(p.free, n)
	}
}

// share returns the page that holds a prefix, and its entry, to one more sequence.
func (p *pages) share(key *prefix) (n int32, entry uint64, ok bool) {
	if n, ok = p.index[*key]; !ok {
		return 0, 0, false
	}
	at := &p.all[n]
	if at.unused != nil {
		p.unused.Remove(at.unused)
		at.unused = nil
	}
	at.references++
	return n, at.entry, true
}

// record puts a page that the caller holds into the index, unless another page is there for
// the same prefix. It returns the entry that the next page's prefix names.
func (p *pages) record(n int32, key *prefix) uint64 {
	if other, ok := p.index[*key]; ok {
		return p.all[other].entry
	}
	p.entries++
	at := &p.all[n]
	at.entry, at.prefix = p.entries, *key
	p.index[*key] = n
	return at.entry
}

// release gives a sequence's pages back, the last first: a prefix is of no use without the
// pages before it.
func (p *pages) release(held []int32) {
	for i := len(held) - 1; i >= 0; i-- {
		n := held[i]
		at := &p.all[n]
		if at.references--; at.references > 0 {
			continue
		}
		if at.entry != 0 {
			at.unused = p.unused.PushBack(n)
		} else {
			p.free = append(p.free, n)
		}
	}
}

// forget empties the index: what other weights made is not shared with a sequence that
// begins under a new version. Sequences keep the pages they hold.
func (p *pages) forget(version int64) {
	for _, n := range p.index {
		p.evict(n)
	}
	p.index = make(map[prefix]int32)
	p.entries++
	p.root, p.version = p.entries, version
}
