package cuda

import (
	"fmt"
	"math"
	"slices"

	"millrace/kernels"
)

// pack is a micro-batch as the library takes it: sequences end to end, and the tokens
// whose log-probabilities are asked for.
type pack struct {
	sequences      []kernels.Sequence
	tokens, starts []int32
	targets        []target
	outcomes       []outcome
}

func newPack(cfg kernels.Config, sequences []kernels.Sequence) (*pack, error) {
	p := &pack{sequences: sequences, starts: []int32{0}}
	for i := range sequences {
		q := &sequences[i]
		if err := q.Validate(cfg.VocabSize, cfg.MaxPositionEmbeddings); err != nil {
			return nil, fmt.Errorf("sequence %q: %w", q.ID, err)
		}
		if len(q.Tokens) > math.MaxInt32-len(p.tokens) {
			return nil, fmt.Errorf("sequence %q: the micro-batch has more than %d tokens", q.ID, math.MaxInt32)
		}
		p.tokens = append(p.tokens, q.Tokens...)
		p.starts = append(p.starts, int32(len(p.tokens)))
	}
	return p, nil
}

// askAll asks for every token but the first of a sequence.
func (p *pack) askAll() {
	for i, q := range p.sequences {
		for t := 1; t < len(q.Tokens); t++ {
			p.targets = append(p.targets, target{row: p.starts[i] + int32(t) - 1, token: q.Tokens[t], sequence: int32(i)})
		}
	}
	p.outcomes = make([]outcome, len(p.targets))
}

// train asks for the tokens under the masks.
func (p *pack) train(loss *kernels.Loss) error {
	for i := range p.sequences {
		q := &p.sequences[i]
		if err := q.ValidateTrained(loss); err != nil {
			return fmt.Errorf("sequence %q: %w", q.ID, err)
		}
		first := len(p.targets)
		for t, trained := range q.Mask {
			if !trained {
				continue
			}
			to := target{row: p.starts[i] + int32(t) - 1, token: q.Tokens[t], sequence: int32(i), advantage: q.Advantage, denominator: loss.Divisor}
			if q.LogProbs != nil {
				to.behaviour, to.hasBehaviour = q.LogProbs[t], 1
			}
			if q.Reference != nil {
				to.reference = q.Reference[t]
			}
			p.targets = append(p.targets, to)
		}
		if loss.PerSequenceMean {
			for j := range p.targets[first:] {
				p.targets[first+j].denominator *= float64(len(p.targets) - first)
			}
		}
	}
	p.outcomes = make([]outcome, len(p.targets))
	return nil
}

// statistics are sums over the outcomes, in their order.
func (p *pack) statistics() kernels.Statistics {
	s := kernels.Statistics{Tokens: int64(len(p.tokens)), TrainedTokens: int64(len(p.targets))}
	for i, o := range p.outcomes {
		s.Loss += o.loss / p.targets[i].denominator
		s.Entropy += o.entropy
		s.KL += o.kl
		s.Ratio += o.ratio
		s.Clipped += float64(o.clipped)
		difference := math.Abs(o.difference)
		s.AbsLogProbDiff += difference
		s.MaxAbsLogProbDiff = max(s.MaxAbsLogProbDiff, difference)
	}
	return s
}

// notFinite adds to ids the sequences with an outcome that is not finite.
func (p *pack) notFinite(ids []string) []string {
	for i, o := range p.outcomes {
		if id := p.sequences[p.targets[i].sequence].ID; o.finite == 0 && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// settings are loss as the library takes it.
func settings(loss *kernels.Loss) lossSettings {
	flag := func(on bool) int32 {
		if on {
			return 1
		}
		return 0
	}
	s := lossSettings{
		supervised: flag(loss.Supervised), sequenceRatio: flag(loss.SequenceRatio), clippedWeight: flag(loss.ClippedWeight),
		clipLow: loss.ClipLow, clipHigh: loss.ClipHigh, dualClip: loss.DualClip,
		klCoefficient: loss.KLCoefficient, entropyCoefficient: loss.EntropyCoefficient,
		truncatedIS: loss.TruncatedIS, temperature: loss.Temperature,
	}
	if s.temperature == 0 {
		s.temperature = 1
	}
	return s
}
