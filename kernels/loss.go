package kernels

import (
	"errors"
	"fmt"
	"math"
)

// Loss are the settings of the policy loss of one trained token t of sequence i
// with advantage A, log-probability logp and behaviour log-probability mu, both
// of the token sampled. sg(x) is x without a gradient, T_i the trained tokens of
// the sequence.
//
// The ratio is one of
//
//	rho = exp(logp - mu)                                        of the token (PPO)
//	rho = exp(sg(mean_t(logp - mu)) + logp - sg(logp))          of the sequence, if SequenceRatio (GSPO)
//	rho = exp(logp - sg(logp)) = 1                              if TruncatedIS > 0, or without mu
//
// and the surrogate one of
//
//	s = max(-A*rho, -A*clip(rho, 1-ClipLow, 1+ClipHigh))        PPO; if DualClip > 0 and A < 0, min(s, -A*DualClip)
//	s = -sg(clip(rho, 1-ClipLow, 1+ClipHigh)) * A * logp        if ClippedWeight (CISPO)
//	s = -min(sg(exp(logp - mu)), TruncatedIS) * A * rho         if TruncatedIS > 0
//	s = -A * logp                                               if Supervised
//
// The loss of the token, with the reference's log-probability ref and the
// entropy of the distribution that the token was drawn from, is
//
//	l_it = s + KLCoefficient*k3 - EntropyCoefficient*entropy
//	k3   = exp(ref-logp) - (ref-logp) - 1                       Schulman's k3
//
// and the loss of the batch sum_i sum_t l_it / Divisor, or with PerSequenceMean
// sum_i (sum_t l_it / T_i) / Divisor. The divisor is given by the caller, because
// a micro-batch does not know its batch.
//
// Under TruncatedIS the clips stay what they are and never bite, since the ratio
// is 1. [Loss.Validate] refuses settings that contradict one another.
//
// Sources: PPO Schulman et al. 2017 (arXiv:1707.06347); clip high Yu et al. 2025
// (DAPO, arXiv:2503.14476); dual clip Ye et al. 2020 (arXiv:1912.09729); GSPO
// Zheng et al. 2025 (arXiv:2507.18071); CISPO MiniMax 2025 (arXiv:2506.13585);
// truncated importance sampling Yao et al. 2025.
type Loss struct {
	// Supervised is cross-entropy where A = 1. It knows no ratio, so nothing that
	// bounds one goes with it.
	Supervised bool
	// SequenceRatio takes one ratio for all tokens of a sequence.
	SequenceRatio bool
	// ClippedWeight clips the weight of the log-probability instead of the
	// objective, so that no token loses its gradient. It needs a clip.
	ClippedWeight bool
	// ClipLow and ClipHigh bound the ratio; both 0 does not clip. A ClipLow of 1 or
	// more leaves the ratio free below.
	ClipLow, ClipHigh float64
	// DualClip, above 1, bounds what a token with a negative advantage costs; 0
	// leaves it out.
	DualClip           float64
	KLCoefficient      float64
	EntropyCoefficient float64
	// TruncatedIS caps the weight that corrects for the difference between the
	// policy that sampled and the one that learns; 0 leaves it out. One step is
	// taken on a batch, so the learner's policy before the step is the policy
	// itself, and its own ratio is 1.
	TruncatedIS float64
	// Temperature divides the logits as it did in sampling; 0 means 1.
	Temperature float64
	// PerSequenceMean divides each sequence's sum by its own number of trained
	// tokens before Divisor.
	PerSequenceMean bool
	// Divisor divides the sum over the whole batch: sequences x max context,
	// number of sequences, or number of trained tokens, as the recipe says.
	Divisor float64
}

// Statistics are sums over the trained tokens of the sequences accumulated, so
// that micro-batches add up; Add joins two.
type Statistics struct {
	Tokens, TrainedTokens int64
	// Loss is already divided as Loss says.
	Loss float64
	// Entropy, KL, Clipped, Ratio and AbsLogProbDiff are sums over trained tokens.
	//
	// Ratio is of the token, exp(logp - mu), 1 without mu, whatever ratio the loss
	// takes, and KL is k3 of KL(behaviour, policy), whose samples the tokens are:
	// Ratio - log Ratio - 1. Clipped counts the tokens whose clip, dual clip or
	// truncation is active: whose loss is another than it would be without.
	Entropy, KL, Clipped, Ratio, AbsLogProbDiff float64
	// MaxAbsLogProbDiff is the largest |logp - behaviour logp|.
	MaxAbsLogProbDiff float64
}

// Add joins the statistics of another micro-batch of the same batch.
func (s *Statistics) Add(o Statistics) {
	s.Tokens += o.Tokens
	s.TrainedTokens += o.TrainedTokens
	s.Loss += o.Loss
	s.Entropy += o.Entropy
	s.KL += o.KL
	s.Clipped += o.Clipped
	s.Ratio += o.Ratio
	s.AbsLogProbDiff += o.AbsLogProbDiff
	s.MaxAbsLogProbDiff = max(s.MaxAbsLogProbDiff, o.MaxAbsLogProbDiff)
}

// Validate reports everything that is wrong with the settings. Every backend asks
// it before it computes.
func (l Loss) Validate() error {
	var wrong []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf("loss "+format, args...))
		}
	}
	notNegative := func(x float64) bool { return x >= 0 && !math.IsInf(x, 0) }
	check(l.Divisor > 0 && !math.IsInf(l.Divisor, 0), "divisor is %v, must be positive", l.Divisor)
	check(notNegative(l.Temperature), "temperature is %v, must be positive, or 0 for 1", l.Temperature)
	check(notNegative(l.ClipLow) && notNegative(l.ClipHigh), "clips at %v and %v, neither may be negative", l.ClipLow, l.ClipHigh)
	check(l.DualClip == 0 || l.DualClip > 1 && !math.IsInf(l.DualClip, 0), "clips negative advantages at %v, must be above 1, or 0 for none", l.DualClip)
	check(notNegative(l.KLCoefficient), "weighs KL by %v, must not be negative", l.KLCoefficient)
	check(!math.IsNaN(l.EntropyCoefficient) && !math.IsInf(l.EntropyCoefficient, 0), "weighs entropy by %v", l.EntropyCoefficient)
	check(notNegative(l.TruncatedIS), "truncates importance weights at %v, must not be negative", l.TruncatedIS)

	clips := l.ClipLow != 0 || l.ClipHigh != 0
	if l.Supervised {
		check(!clips && !l.SequenceRatio && !l.ClippedWeight && l.DualClip == 0 && l.TruncatedIS == 0,
			"is supervised and has no ratio: leave out clips, the sequence's ratio, the clipped weight and truncation")
		return errors.Join(wrong...)
	}
	if l.TruncatedIS != 0 {
		check(!l.SequenceRatio && !l.ClippedWeight,
			"corrects by truncated weights, under which the ratio is 1: leave out the sequence's ratio and the clipped weight")
	}
	if l.ClippedWeight {
		check(clips, "clips the weight of the log-probability, but no clip is set")
		check(l.DualClip == 0, "clips the weight of the log-probability: a dual clip bounds the objective, leave it out")
	}
	return errors.Join(wrong...)
}
