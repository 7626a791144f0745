package kafkaio

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTallyIsRightInAnyOrder: spans and acknowledgements come in every order,
// and after each the position is the smallest offset that is not done, which a
// dumb twin finds by looking at everything; the state survives its encoding.
func TestTallyIsRightInAnyOrder(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		start := r.Int64N(1000)
		var spans []Span
		var offsets []int64
		for from := start; len(spans) < 8; {
			s := Span{From: from, To: from, First: from == start, Last: len(spans) == 7}
			for range r.IntN(4) {
				s.To += 1 + r.Int64N(2) // gaps are control records
				s.Offsets = append(s.Offsets, s.To-1)
			}
			s.To += 1 + r.Int64N(2)
			spans, offsets, from = append(spans, s), append(offsets, s.Offsets...), s.To
		}
		events := r.Perm(len(spans) + len(offsets))
		now := newTally()
		seen, done := map[int64]Span{}, map[int64]bool{}
		for _, e := range events {
			if e < len(spans) {
				if err := now.read(spans[e]); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				seen[spans[e].From] = spans[e]
			} else {
				offset := offsets[e-len(spans)]
				if err := now.acknowledge(offset); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				done[offset] = true
			}
			if want := twinPosition(start, seen, done); now.position != want {
				t.Fatalf("seed %d: position %d, want %d", seed, now.position, want)
			}
			if want := len(seen)+len(done) == len(events); now.over() != want {
				t.Fatalf("seed %d: over is %t, want %t", seed, now.over(), want)
			}
			again, err := decodeTally(now.encode())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(now, again, cmp.AllowUnexported(tally{}), equalEmpty); d != "" {
				t.Fatalf("seed %d: %s", seed, d)
			}
			now = again
		}
		if last := spans[len(spans)-1].To; now.position != last || len(now.window)+len(now.early)+len(now.ahead)+len(now.done) != 0 {
			t.Fatalf("seed %d: at the end %+v, want nothing but position %d", seed, now, last)
		}
	}
}

var equalEmpty = cmp.Transformer("empty", func(s []int64) []int64 {
	if len(s) == 0 {
		return nil
	}
	return s
})

// twinPosition walks the spans from the start to the first offset not done.
func twinPosition(start int64, spans map[int64]Span, done map[int64]bool) int64 {
	if s, ok := spans[start]; !ok || !s.First {
		return 0
	}
	for at := start; ; {
		s, ok := spans[at]
		if !ok {
			return at
		}
		for _, offset := range s.Offsets {
			if !done[offset] {
				return offset
			}
		}
		at = s.To
	}
}

func TestTallyRefuses(t *testing.T) {
	first := Span{From: 10, To: 15, Offsets: []int64{10, 11, 13}, First: true}
	for name, c := range map[string]struct {
		do   func(*tally) error
		want string
	}{
		"a span twice":           {func(t *tally) error { return t.read(first) }, "read again: next is 15"},
		"a span within another":  {func(t *tally) error { return t.read(Span{From: 12, To: 20}) }, "read again: next is 15"},
		"a span ahead twice":     {func(t *tally) error { _ = t.read(Span{From: 20, To: 21}); return t.read(Span{From: 20, To: 22}) }, "read twice"},
		"an ack twice":           {func(t *tally) error { _ = t.acknowledge(11); return t.acknowledge(11) }, "offset 11 acknowledged twice"},
		"an ack of what is done": {func(t *tally) error { _ = t.acknowledge(10); return t.acknowledge(10) }, "everything below 11 is"},
		"an early ack twice":     {func(t *tally) error { _ = t.acknowledge(17); return t.acknowledge(17) }, "offset 17 acknowledged twice"},
		"an ack of a gap":        {func(t *tally) error { return t.acknowledge(12) }, "never read"},
	} {
		t.Run(name, func(t *testing.T) {
			tally := newTally()
			if err := tally.read(first); err != nil {
				t.Fatal(err)
			}
			if err := c.do(tally); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// FuzzDecodeTally: no state panics or allocates more than its bytes hold, and
// one that is read is written back as an equal one.
func FuzzDecodeTally(f *testing.F) {
	one := newTally()
	_ = one.read(Span{From: 10, To: 15, Offsets: []int64{10, 11, 13}, First: true})
	_ = one.read(Span{From: 20, To: 25, Offsets: []int64{21}, Last: true})
	_ = one.acknowledge(11)
	_ = one.acknowledge(21)
	f.Add(one.encode())
	f.Add(newTally().encode())
	f.Add([]byte{1, 0, 5, 9, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		tally, err := decodeTally(b)
		if err != nil {
			return
		}
		again, err := decodeTally(tally.encode())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.window, tally.window) || again.position != tally.position || again.next != tally.next {
			t.Errorf("%+v became %+v", tally, again)
		}
	})
}
