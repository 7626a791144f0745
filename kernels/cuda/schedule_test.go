package cuda

import (
	"math/rand/v2"
	"slices"
	"testing"

	"millrace/kernels"
)

// rehearsal runs a schedule without a device: what a tick would write is kept beside each
// page, and what it would read is looked up there.
type rehearsal struct {
	*schedule
	sessions []*session
	written  [][pageTokens]written
}

// written is what the keys of one position depend on: all tokens up to it, here as a sum
// that differs for each, and the weights.
type written struct {
	history uint64
	version int64
}

func history(tokens []int32, at int) (sum uint64) {
	for _, token := range tokens[:at+1] {
		sum = sum*1000003 + uint64(token) + 1
	}
	return sum
}

// tick plans a tick and runs it under the version that publish returns: weights may be
// published before and after it is run. It checks that no written
// page is another's, that every position before the tick's own is in the cache, and that
// what was made by weights older than the sequence is never found.
func (r *rehearsal) tick(t *testing.T, publish func() int64) {
	t.Helper()
	decoding, reading := r.plan()
	version := publish()
	rows := 0
	for _, q := range reading {
		rows += q.take
	}
	if len(decoding)+len(reading) > r.most || rows > r.prefillTokens {
		t.Fatalf("%d calls decode and %d read %d tokens: the bounds are %d and %d", len(decoding), len(reading), rows, r.most, r.prefillTokens)
	}
	for _, c := range slices.Concat(decoding, reading) {
		q := &c.session.sequence
		for i := range q.cached {
			w := r.written[q.pages[i/pageTokens]][i%pageTokens]
			if w.history != history(q.tokens, i) {
				t.Fatalf("position %d holds other tokens", i)
			}
			if !q.mixed && w.version != q.version {
				t.Fatalf("position %d was made by version %d, the sequence is of %d", i, w.version, q.version)
			}
		}
		for i := q.cached; i < q.cached+c.take; i++ {
			n := q.pages[i/pageTokens]
			if r.pages.all[n].references != 1 {
				t.Fatalf("page %d is written by one of %d holders", n, r.pages.all[n].references)
			}
			r.written[n][i%pageTokens] = written{history(q.tokens, i), version}
		}
		samples := c.take == q.pending()
		publish()
		q.advance(c.take, version, r.pages)
		if samples {
			q.tokens = append(q.tokens, int32(len(q.tokens)%3))
			c.left--
		}
	}
}

// balance checks that every page is free, unused or held, by as many as say so, and that
// the index has pages of one version.
func (r *rehearsal) balance(t *testing.T) {
	t.Helper()
	held := make([]int, len(r.pages.all))
	for _, s := range r.sessions {
		for _, n := range s.sequence.pages {
			held[n]++
		}
	}
	nobody := 0
	for n, p := range r.pages.all {
		if p.references != held[n] {
			t.Fatalf("page %d is held by %d sequences and counts %d", n, held[n], p.references)
		}
		if held[n] == 0 {
			nobody++
		}
		if p.entry != 0 && r.written[n][pageTokens-1].version != r.pages.version {
			t.Fatalf("page %d is in the index and was made by version %d, not %d", n, r.written[n][pageTokens-1].version, r.pages.version)
		}
	}
	if r.pages.available() != nobody {
		t.Fatalf("%d pages are available, nobody holds %d", r.pages.available(), nobody)
	}
}

// TestScheduleAtRandom: sessions that come, share prefixes, go on, are canceled and closed
// while versions change, in a cache that holds few of them: every call ends, pages balance
// after every tick, and a sequence finds its own tokens in the cache and nothing else.
func TestScheduleAtRandom(t *testing.T) {
	r := random(t)
	for range 30 {
		run := &rehearsal{schedule: newSchedule(newPages(9, 0), 20+r.IntN(150), 1+r.IntN(5))}
		run.written = make([][pageTokens]written, 9)
		version := int64(0)
		for range 400 {
			switch r.IntN(5) {
			case 0, 1:
				s := newRehearsed(r)
				run.sessions = append(run.sessions, s)
				run.submit(&s.request)
			case 2:
				run.again(r)
			}
			run.tick(t, func() int64 {
				if r.IntN(40) == 0 {
					version++
					run.pages.forget(version)
				}
				return version
			})
			run.end()
			run.balance(t)
		}
		for ticks := 0; run.busy(); ticks++ {
			if ticks > 100000 {
				t.Fatalf("%d calls run and %d wait for ever", len(run.running), len(run.waiting))
			}
			run.tick(t, func() int64 { return version })
			run.end()
		}
		for _, s := range run.sessions {
			run.leave(&s.sequence)
		}
		run.balance(t)
		if run.pages.available() != 9 {
			t.Errorf("%d pages of 9 are given back", run.pages.available())
		}
	}
}

// newRehearsed is a session with a call whose prompt has one of two prefixes.
func newRehearsed(r *rand.Rand) *session {
	s := &session{generator: &Generator{cfg: kernels.Config{MaxPositionEmbeddings: 1 << 20}}}
	s.request.session = s
	for i := range 1 + r.IntN(250) {
		s.sequence.tokens = append(s.sequence.tokens, int32(i%7))
	}
	if r.IntN(2) == 0 {
		s.sequence.tokens[0] = 99
	}
	s.request.left = 1 + r.IntN(40)
	return s
}

// again cancels, closes or continues a session.
func (r *rehearsal) again(random *rand.Rand) {
	if len(r.sessions) == 0 {
		return
	}
	i := random.IntN(len(r.sessions))
	s := r.sessions[i]
	switch {
	case !s.request.over():
		if random.IntN(3) == 0 {
			s.request.canceled.Store(true)
		}
	case s.request.failed() || len(s.sequence.tokens) > 300 || random.IntN(3) == 0:
		r.leave(&s.sequence)
		r.sessions = slices.Delete(r.sessions, i, i+1)
	default:
		s.sequence.tokens = append(s.sequence.tokens, int32(random.IntN(3)))
		s.request.left = 1 + random.IntN(40)
		r.submit(&s.request)
	}
}

// TestPagesOfAGroup: the pages of a prompt that nobody holds any more are found by the next
// one, until others need them; then the end of the prefix goes first.
func TestPagesOfAGroup(t *testing.T) {
	p := newPages(3, 0)
	tokens := make([]int32, 3*pageTokens)
	first := sequence{tokens: tokens}
	first.next(p)
	first.pages = []int32{p.take(), p.take(), p.take()}
	first.advance(2*pageTokens, 0, p)
	first.drop(p)
	second := sequence{tokens: tokens}
	if got := second.adopt(p); got != 2*pageTokens || p.available() != 1 {
		t.Fatalf("%d tokens are found, %d pages are left", got, p.available())
	}
	second.drop(p)
	p.take()
	p.take()
	third := sequence{tokens: tokens}
	if got := third.adopt(p); got != pageTokens {
		t.Errorf("%d tokens are found after a page was taken for another", got)
	}
	p.forget(1)
	fourth := sequence{tokens: tokens}
	if got := fourth.adopt(p); got != 0 {
		t.Errorf("%d tokens of old weights are found", got)
	}
}
