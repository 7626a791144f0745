package cpu

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"millrace/kernels"
	"millrace/kernels/cpu/vec"
)

// sampler draws tokens from logits. It keeps scratch: one to a goroutine.
type sampler struct {
	probs []float32
	order []int32
}

// draw returns a token and its log-probability under the distribution it was
// drawn from: softmax(logits/temperature), cut to the tokens at least MinP times as
// probable as the most probable one, then to the TopK most probable of these, then
// to the fewest of these, the most probable first, whose share of what is left
// reaches TopP, and made to sum to 1 again. Equal probabilities are ordered by id. Temperature 0 takes the first most probable token, whose
// log-probability is 0. u in [0,1) is the random number. It spoils logits.
func (s *sampler) draw(logits []float32, p *kernels.Sampling, u float64) (token int32, logProb float32, err error) {
	if p.Temperature == 0 {
		best := 0
		for j, z := range logits {
			if z > logits[best] {
				best = j
			}
		}
		if !finite(logits[best]) {
			return 0, 0, fmt.Errorf("logit of the most probable token is %v", logits[best])
		}
		return int32(best), 0, nil
	}
	if p.Temperature != 1 {
		vec.Scale(float32(1/p.Temperature), logits)
	}
	s.probs = grow(s.probs, len(logits))
	lse := vec.Softmax(s.probs, logits)
	if !finite(lse) {
		return 0, 0, fmt.Errorf("log-sum-exp of the logits is %v", lse)
	}
	if p.MinP > 0 || p.TopK > 0 && p.TopK < len(logits) || p.TopP > 0 && p.TopP < 1 {
		token, share := s.drawCut(p, u)
		return token, float32(math.Log(share)), nil
	}
	token = int32(pick(s.probs, nil, u, total(s.probs)))
	return token, logits[token] - lse, nil
}

// drawCut draws from probs cut by MinP, TopK and TopP.
func (s *sampler) drawCut(p *kernels.Sampling, u float64) (token int32, prob float64) {
	least := p.MinP * float64(slices.Max(s.probs))
	s.order = s.order[:0]
	for j, q := range s.probs {
		if float64(q) >= least {
			s.order = append(s.order, int32(j))
		}
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.probs[b], s.probs[a]), cmp.Compare(a, b))
	})
	kept := s.order
	if p.TopK > 0 {
		kept = kept[:min(p.TopK, len(kept))]
	}
	var sum float64
	for _, j := range kept {
		sum += float64(s.probs[j])
	}
	if p.TopP > 0 && p.TopP < 1 {
		var reached float64
		for i, j := range kept {
			reached += float64(s.probs[j])
			if reached >= p.TopP*sum {
				kept, sum = kept[:i+1], reached
				break
			}
		}
	}
	token = int32(pick(s.probs, kept, u, sum))
	return token, float64(s.probs[token]) / sum
}

// pick walks the probabilities, of the ids given or of all, to the one whose
// interval holds u*sum. Rounding may leave the walk short of its end: then the
// last token with a probability is taken.
func pick(probs []float32, ids []int32, u, sum float64) int {
	target := u * sum
	last, reached := 0, 0.0
	if ids == nil {
		for j, p := range probs {
			if p > 0 {
				last = j
			}
			if reached += float64(p); reached > target {
				return j
			}
		}
		return last
	}
	for _, j := range ids {
		if probs[j] > 0 {
			last = int(j)
		}
		if reached += float64(probs[j]); reached > target {
			return int(j)
		}
	}
	return last
}

func total(x []float32) float64 {
	var s float64
	for _, v := range x {
		s += float64(v)
	}
	return s
}

func finite(x float32) bool { return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) }
