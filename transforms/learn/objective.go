package learn

import (
	"errors"
	"fmt"

	"millrace/kernels"
	"millrace/schemas"
)

// Objective is what a step minimises: the loss of a token, and how the losses of a
// minibatch's tokens become one.
type Objective struct {
	// Loss has the settings of the token's loss. Its Temperature, PerSequenceMean
	// and Divisor are of a minibatch and are 0 here.
	Loss        kernels.Loss
	Aggregation Aggregation
}

// Aggregation names the divisor of the summed loss of a minibatch.
type Aggregation string

// With n_w the weighing sequences, n_c those and the ones that were excluded for
// how they ended, L the largest context, m_it the mask and T_i the trained tokens of
// sequence i:
//
//	Constant           sum_i sum_t m_it*l_it / (n_w * L)        Dr. GRPO's constant
//	ConstantPublished  sum_i sum_t m_it*l_it / (n_c * L)        rLLM's seq-mean-token-sum (DeepSWE)
//	SequenceMean       sum_i (sum_t m_it*l_it / T_i) / n_w      GRPO; verl's seq-mean-token-mean
//	SequenceSum        sum_i sum_t m_it*l_it / n_w              RLOO; verl's seq-mean-token-sum
//	TokenMean          sum_i sum_t m_it*l_it / sum_i T_i        DAPO; verl's token-mean
//
// A sequence that counts but trains no token is in n_w. verl leaves it out where it
// counts sequences itself.
const (
	Constant          Aggregation = "constant"
	ConstantPublished Aggregation = "constant-published"
	SequenceMean      Aggregation = "sequence-mean"
	SequenceSum       Aggregation = "sequence-sum"
	TokenMean         Aggregation = "token-mean"
)

// Aggregations are the names of the aggregations.
func Aggregations() []string {
	return []string{string(Constant), string(ConstantPublished), string(SequenceMean), string(SequenceSum), string(TokenMean)}
}

// Validate reports everything that is wrong with the objective.
func (o Objective) Validate() error {
	var errs []error
	l := o.Loss
	if l.Temperature != 0 || l.PerSequenceMean || l.Divisor != 0 {
		errs = append(errs, errors.New("learn: temperature, mean and divisor of the loss are set for each minibatch, not by the objective"))
	}
	l.Divisor = 1
	if err := l.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("learn: %w", err))
	}
	switch o.Aggregation {
	case Constant, ConstantPublished, SequenceMean, SequenceSum, TokenMean:
	default:
		errs = append(errs, fmt.Errorf("learn: aggregation %q is unknown, want one of %v", o.Aggregation, Aggregations()))
	}
	return errors.Join(errs...)
}

// counts tells whether a sample is one of n_c: it weighs, or it was excluded for
// the way it ended. One that failed, or has no reward, never counts (invariant 1).
func counts(s *schemas.Sample) bool {
	return s.Weight == 1 || (s.Excluded == string(s.Termination) && s.Termination != schemas.Failed)
}

// Of returns the loss of a minibatch: all of its samples, weighing or not. It
// returns false if nothing in it is trained. context is in tokens.
func (o Objective) Of(minibatch []schemas.Sample, context int, temperature float64) (kernels.Loss, bool) {
	weighing, counting, trained := 0, 0, 0
	for i := range minibatch {
		s := &minibatch[i]
		if counts(s) {
			counting++
		}
		if s.Weight == 1 {
			weighing++
			trained += trainedTokens(s)
		}
	}
	if trained == 0 {
		return kernels.Loss{}, false
	}
	l := o.Loss
	l.Temperature = temperature
	switch o.Aggregation {
	case Constant:
		l.Divisor = float64(weighing) * float64(context)
	case ConstantPublished:
		l.Divisor = float64(counting) * float64(context)
	case SequenceMean:
		l.PerSequenceMean, l.Divisor = true, float64(weighing)
	case SequenceSum:
		l.Divisor = float64(weighing)
	case TokenMean:
		l.Divisor = float64(trained)
	}
	return l, true
}

// gradientIsAdvantages tells whether the loss has no term but the one that the
// advantage multiplies.
func (o Objective) gradientIsAdvantages() bool {
	return o.Loss.KLCoefficient == 0 && o.Loss.EntropyCoefficient == 0
}

func trainedTokens(s *schemas.Sample) int {
	n := 0
	for _, m := range s.LossMask {
		if m {
			n++
		}
	}
	return n
}
