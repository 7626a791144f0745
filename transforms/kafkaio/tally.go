package kafkaio

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"millrace/schemas"
)

// Span is news of a [ReadTracked]: the offsets of one partition that it emitted
// records for, in ascending order, and that below To and from From on there are
// no others. The spans of a partition form a chain: one ends where the next
// begins.
type Span struct {
	Topic     string
	Partition int32
	From, To  int64
	Offsets   []int64
	// First marks the span that begins where the job began to read, Last the one
	// that ends where a bounded read ends.
	First, Last bool
}

// tally is what Commit knows of one partition: what was read and what is
// acknowledged. It is a pure state machine that takes both in any order.
//
//	read          10 11 12 13 14    next = 15
//	acknowledged   x  x     x
//	                     ^ position = 12: what may be committed
//
// Invariant: position <= every offset that was read and is not acknowledged.
// Invariant: position never decreases, and is next exactly when all is done.
//
// Nothing may be committed before the first span has come; spans that come
// before their turn, and acknowledgements of what they hold, wait in ahead and
// early.
type tally struct {
	rooted, ended  bool // the first and the last span are among those below next
	position, next int64
	// window holds the offsets read from position on, ascending; done says which
	// are acknowledged. The first is not.
	window []int64
	done   map[int64]bool
	ahead  map[int64]Span // by From
	early  map[int64]bool
}

func newTally() *tally {
	return &tally{done: map[int64]bool{}, ahead: map[int64]Span{}, early: map[int64]bool{}}
}

// read notes a span. One that overlaps what was read before is an error and
// changes nothing.
func (t *tally) read(s Span) error {
	if t.rooted && s.From < t.next || t.rooted && s.First {
		return fmt.Errorf("offsets %d to %d read again: next is %d", s.From, s.To, t.next)
	}
	if _, again := t.ahead[s.From]; again {
		return fmt.Errorf("offsets %d to %d read twice", s.From, s.To)
	}
	if s.First {
		t.rooted, t.position, t.next = true, s.From, s.From
	}
	t.ahead[s.From] = s
	for t.rooted {
		s, ok := t.ahead[t.next]
		if !ok {
			break
		}
		delete(t.ahead, t.next)
		for _, offset := range s.Offsets {
			t.window = append(t.window, offset)
			if t.early[offset] {
				delete(t.early, offset)
				t.done[offset] = true
			}
		}
		t.next, t.ended = s.To, s.Last
	}
	t.advance()
	return nil
}

// acknowledge notes that everything made from offset is durable. A second time,
// or for an offset that was not read, is an error and changes nothing: somebody
// acknowledged a record that is not theirs.
func (t *tally) acknowledge(offset int64) error {
	if !t.rooted || offset >= t.next {
		if t.early[offset] {
			return fmt.Errorf("offset %d acknowledged twice", offset)
		}
		t.early[offset] = true
		return nil
	}
	if offset < t.position {
		return fmt.Errorf("offset %d acknowledged twice: everything below %d is", offset, t.position)
	}
	if _, ok := slices.BinarySearch(t.window, offset); !ok {
		return fmt.Errorf("offset %d acknowledged but never read", offset)
	}
	if t.done[offset] {
		return fmt.Errorf("offset %d acknowledged twice", offset)
	}
	t.done[offset] = true
	t.advance()
	return nil
}

// over says that the partition is read to its end and all of it acknowledged.
func (t *tally) over() bool { return t.ended && t.position == t.next }

func (t *tally) advance() {
	passed := 0
	for passed < len(t.window) && t.done[t.window[passed]] {
		delete(t.done, t.window[passed])
		passed++
	}
	t.window = t.window[passed:]
	t.position = t.next
	if len(t.window) > 0 {
		t.position = t.window[0]
	}
}

// The state of a tally is a row of uvarints; d is the distance to the offset
// before, and every list has its length in front:
//
//	rooted ended position next | 2d+done of each in window | d of each in early
//	| From To First Last and the list of d of each in ahead
func (t *tally) encode() []byte {
	b := binary.AppendUvarint(nil, flag(t.rooted))
	b = binary.AppendUvarint(b, flag(t.ended))
	b = binary.AppendUvarint(b, uint64(t.position))
	b = binary.AppendUvarint(b, uint64(t.next))
	b = binary.AppendUvarint(b, uint64(len(t.window)))
	last := t.position
	for _, offset := range t.window {
		b = binary.AppendUvarint(b, uint64(offset-last)<<1|flag(t.done[offset]))
		last = offset
	}
	b = appendOffsets(b, slices.Sorted(maps.Keys(t.early)))
	b = binary.AppendUvarint(b, uint64(len(t.ahead)))
	for _, from := range slices.Sorted(maps.Keys(t.ahead)) {
		s := t.ahead[from]
		b = binary.AppendUvarint(b, uint64(s.From))
		b = binary.AppendUvarint(b, uint64(s.To))
		b = binary.AppendUvarint(b, flag(s.First))
		b = binary.AppendUvarint(b, flag(s.Last))
		b = appendOffsets(b, s.Offsets)
	}
	return b
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func appendOffsets(b []byte, offsets []int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(offsets)))
	last := int64(0)
	for _, offset := range offsets {
		b = binary.AppendUvarint(b, uint64(offset-last))
		last = offset
	}
	return b
}

// decodeTally reads what encode wrote.
func decodeTally(b []byte) (*tally, error) {
	in := numbers{rest: b}
	t := newTally()
	t.rooted, t.ended = in.next() != 0, in.next() != 0
	t.position, t.next = int64(in.next()), int64(in.next())
	last := t.position
	for range in.count() {
		n := in.next()
		last += int64(n >> 1)
		t.window = append(t.window, last)
		if n&1 != 0 {
			t.done[last] = true
		}
	}
	for _, offset := range in.offsets() {
		t.early[offset] = true
	}
	for range in.count() {
		s := Span{From: int64(in.next()), To: int64(in.next()), First: in.next() != 0, Last: in.next() != 0}
		s.Offsets = in.offsets()
		t.ahead[s.From] = s
	}
	if in.cut || len(in.rest) > 0 {
		return nil, fmt.Errorf("decoding the state of a partition, %d bytes: %w", len(b), schemas.ErrCorrupt)
	}
	return t, nil
}

// numbers are the uvarints of a row; cut is set when one is missing.
type numbers struct {
	rest []byte
	cut  bool
}

func (n *numbers) next() uint64 {
	v, size := binary.Uvarint(n.rest)
	if size <= 0 {
		n.rest, n.cut = nil, true
		return 0
	}
	n.rest = n.rest[size:]
	return v
}

// count is the length of a list, whose entries take a byte each at least.
func (n *numbers) count() uint64 {
	v := n.next()
	if v > uint64(len(n.rest)) {
		n.rest, n.cut = nil, true
		return 0
	}
	return v
}

func (n *numbers) offsets() []int64 {
	var offsets []int64
	last := int64(0)
	for range n.count() {
		last += int64(n.next())
		offsets = append(offsets, last)
	}
	return offsets
}
