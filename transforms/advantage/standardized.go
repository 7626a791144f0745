package advantage

import "math"

// standardizedEpsilon is added to the standard deviation (verl's epsilon of
// compute_grpo_outcome_advantage). It is far below the deviation of rewards
// that differ by a test result.
const standardizedEpsilon = 1e-6

// Standardized divides the centered reward by the group's standard deviation:
//
//	A_i = (r_i - mean r)/(s + ε),  s² = Σ_j (r_j - mean r)²/(n-1)
//
// (Shao et al. 2024, arXiv:2402.03300, section 4.1.2; n-1 and ε are verl's). The
// variance is taken in two passes, so it does not cancel, and of distances scaled
// by a power of two, so that no square leaves the range of float64.
//
// n = 1: r/(1+ε), verl's mean 0 and deviation 1. All equal: exactly 0.
func Standardized(r []float64) {
	if len(r) == 1 {
		r[0] /= 1 + standardizedEpsilon
		return
	}
	if allEqual(r) {
		clear(r)
		return
	}
	m := mean(r)
	s := deviation(r, m)
	for i := range r {
		r[i] = (r[i] - m) / (s + standardizedEpsilon)
	}
}

// deviation is sqrt(Σ_j (r_j - m)²/(n-1)).
func deviation(r []float64, m float64) float64 {
	farthest := 0.0
	for _, v := range r {
		farthest = max(farthest, math.Abs(v-m))
	}
	_, exponent := math.Frexp(farthest)
	squares := 0.0
	for _, v := range r {
		d := math.Ldexp(v-m, -exponent)
		squares += d * d
	}
	return math.Ldexp(math.Sqrt(squares/float64(len(r)-1)), exponent)
}
