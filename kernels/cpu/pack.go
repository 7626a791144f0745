package cpu

import (
	"fmt"
	"math"

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
		if err := checkSequence(s, q); err != nil {
			return nil, fmt.Errorf("sequence %q: %w", q.ID, err)
		}
		p.tokens = append(p.tokens, q.Tokens...)
		p.start = append(p.start, len(p.tokens))
		p.longest = max(p.longest, len(q.Tokens))
	}
	return p, nil
}

func checkSequence(s *shape, q *kernels.Sequence) error {
	n := len(q.Tokens)
	switch {
	case n == 0:
		return fmt.Errorf("has no tokens")
	case n > s.maximumPositions:
		return fmt.Errorf("has %d tokens, the model reaches %d", n, s.maximumPositions)
	}
	for t, id := range q.Tokens {
		if id < 0 || int(id) >= s.vocab {
			return fmt.Errorf("token %d is %d, the vocabulary has %d", t, id, s.vocab)
		}
	}
	return nil
}

// checkTrained checks what only training reads.
func checkTrained(q *kernels.Sequence) error {
	n := len(q.Tokens)
	if len(q.Mask) != n {
		return fmt.Errorf("has %d tokens and a mask of %d", n, len(q.Mask))
	}
	if q.Mask[0] {
		return fmt.Errorf("trains its first token, which has no prediction")
	}
	if math.IsNaN(q.Advantage) || math.IsInf(q.Advantage, 0) {
		return fmt.Errorf("has advantage %v", q.Advantage)
	}
	for name, values := range map[string][]float32{"behaviour": q.LogProbs, "reference": q.Reference} {
		if values == nil {
			continue
		}
		if len(values) != n {
			return fmt.Errorf("has %d tokens and %d %s log-probabilities", n, len(values), name)
		}
		for t, v := range values {
			if q.Mask[t] && (math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)) {
				return fmt.Errorf("has %s log-probability %v at trained token %d", name, v, t)
			}
		}
	}
	return nil
}
