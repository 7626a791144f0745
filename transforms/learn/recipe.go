package learn

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"millrace/kernels"
	"millrace/schemas"
)

// Recipe are the settings of the loss. The fields hold the whole recipe, so that
// single ones can be overridden.
type Recipe struct {
	// ClipLow and ClipHigh bound the ratio to [1-ClipLow, 1+ClipHigh].
	ClipLow, ClipHigh float64
	// KLCoefficient weighs k3 against the reference policy, the weights training
	// began with; 0 needs no reference.
	KLCoefficient float64
	// EntropyCoefficient weighs the entropy bonus.
	EntropyCoefficient float64
	// TruncatedIS caps the importance weight (Yao et al. 2025); 0 leaves it out.
	TruncatedIS float64
	// Aggregation is how the sum over tokens becomes a mean.
	Aggregation Aggregation
	// Supervised replaces the surrogate by cross-entropy.
	Supervised bool
}

// Aggregation names a divisor of the summed loss of a minibatch.
type Aggregation string

// With n_w the weighing sequences, n_c those and the ones that were excluded for
// how they ended, L the largest context and T_i the trained tokens of sequence i:
//
//	SumOverContext       sum_i sum_t l_it / (n_w * L)        Dr. GRPO's constant
//	SumOverContextAll    sum_i sum_t l_it / (n_c * L)        rLLM's seq-mean-token-sum
//	SequenceMean         sum_i (sum_t l_it / T_i) / n_w      GRPO
//	TokenMean            sum_i sum_t l_it / sum_i T_i        DAPO
const (
	SumOverContext    Aggregation = "sum/(weighing*context)"
	SumOverContextAll Aggregation = "sum/(all*context)"
	SequenceMean      Aggregation = "sequence-mean"
	TokenMean         Aggregation = "token-mean"
)

// recipes by name.
//
//   - grpo++: the parts the DeepSWE report lists: clip high, no KL, no entropy,
//     length normalised by the context. A rollout that used up its budget is
//     masked out of the sum and stays in the mean over sequences.
//   - deepswe: the same as published, where one that a clock cut off does so too.
//   - grpo: Shao et al. 2024 (arXiv:2402.03300), eq. 3: symmetric clip, k3, mean
//     over a sequence's tokens, then over sequences. Coefficient as verl's
//     default kl_loss_coef.
//   - supervised: cross-entropy of the tokens, for a warm start.
var recipes = map[string]Recipe{
	"grpo++":     {ClipLow: 0.2, ClipHigh: 0.28, Aggregation: SumOverContext},
	"deepswe":    {ClipLow: 0.2, ClipHigh: 0.28, Aggregation: SumOverContextAll},
	"grpo":       {ClipLow: 0.2, ClipHigh: 0.2, KLCoefficient: 0.001, Aggregation: SequenceMean},
	"supervised": {Supervised: true, Aggregation: TokenMean},
}

// RecipeByName returns a named recipe.
func RecipeByName(name string) (Recipe, error) {
	r, ok := recipes[name]
	if !ok {
		return Recipe{}, fmt.Errorf("recipe %q is unknown; known are %s",
			name, strings.Join(slices.Sorted(maps.Keys(recipes)), ", "))
	}
	return r, nil
}

// counts tells whether a sample is one of n_c: it weighs, or it was excluded for
// the way it ended. One that failed, or has no reward, never counts (invariant 1).
func counts(s *schemas.Sample) bool {
	return s.Weight == 1 || (s.Excluded == string(s.Termination) && s.Termination != schemas.Failed)
}

// Loss returns the loss of a minibatch: all of its samples, weighing or not. It
// returns false if nothing in it is trained.
func (r Recipe) Loss(minibatch []schemas.Sample, context int, temperature float64) (kernels.Loss, bool) {
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
	l := kernels.Loss{
		Supervised: r.Supervised, ClipLow: r.ClipLow, ClipHigh: r.ClipHigh, KLCoefficient: r.KLCoefficient,
		EntropyCoefficient: r.EntropyCoefficient, TruncatedIS: r.TruncatedIS, Temperature: temperature,
	}
	switch r.Aggregation {
	case SumOverContext:
		l.Divisor = float64(weighing) * float64(context)
	case SumOverContextAll:
		l.Divisor = float64(counting) * float64(context)
	case SequenceMean:
		l.PerSequenceMean, l.Divisor = true, float64(weighing)
	case TokenMean:
		l.Divisor = float64(trained)
	}
	return l, true
}

// gradientIsAdvantages tells whether the loss has no term but the one that the
// advantage multiplies.
func (r Recipe) gradientIsAdvantages() bool {
	return r.KLCoefficient == 0 && r.EntropyCoefficient == 0
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
