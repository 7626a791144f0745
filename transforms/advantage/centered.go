package advantage

// Centered takes the mean of the group as the baseline: A_i = r_i - mean r (Liu
// et al. 2025, arXiv:2503.20783, Dr. GRPO).
//
// n = 1: 0. All equal: exactly 0.
func Centered(r []float64) {
	if allEqual(r) {
		clear(r)
		return
	}
	m := mean(r)
	for i := range r {
		r[i] -= m
	}
}
