package cpu

import (
	"math"

	"millrace/kernels"
)

// tokenLoss is the loss of one trained token and its derivatives, before
// division.
type tokenLoss struct {
	loss float64
	// dLogProb and dEntropy are the loss's derivatives by the token's
	// log-probability and by the entropy of its distribution.
	dLogProb, dEntropy float64
	// ratio and kl are of the token, as kernels.Statistics tells them.
	ratio, kl float64
	// difference is log-probability minus behaviour log-probability.
	difference float64
	clipped    bool
}

// prediction is what is known of one trained token before its loss.
type prediction struct {
	logProb, entropy float64
	advantage        float64
	// behaviour and reference are log-probabilities; NaN stands for none.
	behaviour, reference float64
	// sequenceRatio is the ratio of the token's whole sequence, read only under
	// SequenceRatio.
	sequenceRatio float64
}

// difference is log-probability minus behaviour log-probability, 0 without one.
func (p *prediction) difference() float64 {
	if math.IsNaN(p.behaviour) {
		return 0
	}
	return p.logProb - p.behaviour
}

// lossOf evaluates kernels.Loss's formula. Without a behaviour log-probability
// the ratio is 1, with the derivative of exp(logp - sg(logp)).
func lossOf(l *kernels.Loss, p prediction) tokenLoss {
	var r tokenLoss
	r.difference = p.difference()
	r.ratio = math.Exp(r.difference)
	r.kl = r.ratio - r.difference - 1
	ratio := r.ratio
	if l.SequenceRatio {
		ratio = p.sequenceRatio
	}
	switch {
	case l.Supervised:
		r.loss, r.dLogProb = -p.advantage*p.logProb, -p.advantage
	case l.TruncatedIS > 0:
		r.truncated(l, p.advantage)
	case l.ClippedWeight:
		weight := clip(l, ratio)
		r.loss, r.dLogProb = -weight*p.advantage*p.logProb, -weight*p.advantage
		r.clipped = weight != ratio
	default:
		r.clippedObjective(l, p.advantage, ratio)
	}
	if l.KLCoefficient != 0 {
		d := p.reference - p.logProb
		r.loss += l.KLCoefficient * (math.Exp(d) - d - 1)
		r.dLogProb += l.KLCoefficient * (1 - math.Exp(d))
	}
	r.loss -= l.EntropyCoefficient * p.entropy
	r.dEntropy = -l.EntropyCoefficient
	return r
}

// truncated is the surrogate under TruncatedIS: the token's ratio is a weight
// without a gradient, and the ratio of the objective is 1.
func (r *tokenLoss) truncated(l *kernels.Loss, advantage float64) {
	weight := min(r.ratio, l.TruncatedIS)
	r.loss, r.dLogProb = -weight*advantage, -weight*advantage
	r.clipped = weight != r.ratio
}

// clippedObjective is PPO's surrogate. The derivative of the ratio by the
// log-probability is the ratio itself, of token and sequence alike.
func (r *tokenLoss) clippedObjective(l *kernels.Loss, advantage, ratio float64) {
	r.loss, r.dLogProb = -advantage*ratio, -advantage*ratio
	if bounded := -advantage * clip(l, ratio); bounded > r.loss {
		r.loss, r.dLogProb, r.clipped = bounded, 0, true
	}
	if l.DualClip == 0 || advantage >= 0 {
		return
	}
	if bounded := -advantage * l.DualClip; bounded < r.loss {
		r.loss, r.dLogProb, r.clipped = bounded, 0, true
	}
}

// clip bounds a ratio as the settings say.
func clip(l *kernels.Loss, ratio float64) float64 {
	if l.ClipLow == 0 && l.ClipHigh == 0 {
		return ratio
	}
	return min(max(ratio, 1-l.ClipLow), 1+l.ClipHigh)
}
