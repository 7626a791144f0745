package cpu

import (
	"fmt"

	"millrace/kernels"
)

// pack is a micro-batch: the tokens of its sequences one after the other.
// Attention never crosses from one to the next.
type pack struct {
	sequences []kernels.Sequence
	tokens    []int32
	start     []int // of each sequence in tokens, and the end of the last
	longest   int
}

func newPack(s *shape, sequences []kernels.Sequence) (*pack, error) {
	p := &pack{sequences: sequences, start: []int{0}}
	for i := range sequences {
		q := &sequences[i]
		if err := q.Validate(s.vocab, s.maximumPositions); err != nil {
			return nil, fmt.Errorf("sequence %q: %w", q.ID, err)
		}
		p.tokens = append(p.tokens, q.Tokens...)
		p.start = append(p.start, len(p.tokens))
		p.longest = max(p.longest, len(q.Tokens))
	}
	return p, nil
}
