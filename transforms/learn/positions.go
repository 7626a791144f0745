package learn

import (
	"cmp"
	"slices"

	"millrace/schemas"
)

// offsets knows, for each partition, what was read and what of it is still held
// back in memory. Its positions are where a restart must read from.
//
// Invariant: every record below a position is in the ledger or was answered with
// a dead letter; the record at it is not, or was never read.
type offsets map[partition]*progress

type partition struct {
	topic  string
	number int32
}

type progress struct {
	next int64         // behind the last record read
	held map[int64]int // rows held, by offset
}

// read notes a record that was read; p.Offset is its own offset.
func (o offsets) read(p schemas.Position) {
	at := o.at(p)
	at.next = max(at.next, p.Offset+1)
}

func (o offsets) hold(p schemas.Position) { o.at(p).held[p.Offset]++ }

func (o offsets) release(p schemas.Position) {
	held := o.at(p).held
	if held[p.Offset]--; held[p.Offset] <= 0 {
		delete(held, p.Offset)
	}
}

func (o offsets) at(p schemas.Position) *progress {
	key := partition{p.Topic, p.Partition}
	if o[key] == nil {
		o[key] = &progress{held: map[int64]int{}}
	}
	return o[key]
}

// positions returns the next offset to read of each partition, sorted.
func (o offsets) positions() []schemas.Position {
	var out []schemas.Position
	for key, at := range o {
		next := at.next
		for offset := range at.held {
			next = min(next, offset)
		}
		out = append(out, schemas.Position{Topic: key.topic, Partition: key.number, Offset: next})
	}
	slices.SortFunc(out, func(a, b schemas.Position) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return out
}
