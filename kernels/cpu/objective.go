package cpu

import (
	"fmt"
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
	ratio, kl          float64
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
}

// lossOf evaluates kernels.Loss's formula. Without a behaviour log-probability
// the ratio is 1, with the derivative of exp(logp - stop_gradient(logp)).
func lossOf(l *kernels.Loss, p prediction) tokenLoss {
	var r tokenLoss
	r.ratio = 1
	if !math.IsNaN(p.behaviour) {
		r.difference = p.logProb - p.behaviour
		r.ratio = math.Exp(r.difference)
	}
	// Samples come from the behaviour policy, so k3 of KL(behaviour, policy) is
	// ratio - log(ratio) - 1.
	r.kl = r.ratio - r.difference - 1

	if l.Supervised {
		r.loss = -p.advantage * p.logProb
		r.dLogProb = -p.advantage
	} else {
		weight := 1.0
		if l.TruncatedIS > 0 {
			weight = min(r.ratio, l.TruncatedIS)
		}
		surrogate, slope := -p.advantage*r.ratio, -p.advantage*r.ratio
		if l.ClipLow != 0 || l.ClipHigh != 0 {
			bounded := -p.advantage * min(max(r.ratio, 1-l.ClipLow), 1+l.ClipHigh)
			if bounded > surrogate {
				surrogate, slope, r.clipped = bounded, 0, true
			}
		}
		r.loss = weight * surrogate
		r.dLogProb = weight * slope
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

// checkLoss reports settings that have no meaning.
func checkLoss(l *kernels.Loss) error {
	switch {
	case !(l.Divisor > 0) || math.IsInf(l.Divisor, 0):
		return fmt.Errorf("loss divisor is %v, must be positive", l.Divisor)
	case !(l.Temperature >= 0) || math.IsInf(l.Temperature, 0):
		return fmt.Errorf("loss temperature is %v, must be positive, or 0 for 1", l.Temperature)
	case !(l.ClipLow >= 0 && l.ClipLow <= 1) || !(l.ClipHigh >= 0):
		return fmt.Errorf("loss clips at %v and %v, need 0 <= low <= 1 and high >= 0", l.ClipLow, l.ClipHigh)
	case !(l.TruncatedIS >= 0):
		return fmt.Errorf("loss truncates importance weights at %v, must not be negative", l.TruncatedIS)
	}
	return nil
}
