package advantage

// LeaveOneOut takes the mean of the others as each member's baseline:
//
//	A_i = r_i - (Σ_j r_j - r_i)/(n-1) = n/(n-1)·(r_i - mean r)
//
// It is unbiased, because no baseline depends on its own member's reward
// (Ahmadian et al. 2024, arXiv:2402.14740, section 3.3). The second form is
// computed: it loses less to cancellation.
//
// n = 1: 0, there is no other to compare with. All equal: exactly 0.
func LeaveOneOut(r []float64) {
	if allEqual(r) {
		clear(r)
		return
	}
	m, up := mean(r), bessel(r)
	for i := range r {
		r[i] = up * (r[i] - m)
	}
}

// LeaveOneOutPublished is LeaveOneOut with the baseline 0 for a group of one,
// A = r, as in verl's rloo and DeepSWE.
func LeaveOneOutPublished(r []float64) {
	if len(r) > 1 {
		LeaveOneOut(r)
	}
}

// LeaveOneOutStandardized is LeaveOneOut divided by the group's deviation plus ε,
// as [Standardized] divides: A_i = n/(n-1)·(r_i - mean r)/(s + ε). No paper has it;
// it is leave-one-out with one part of GRPO back, for ablations.
//
// n = 1: 0. All equal: exactly 0.
func LeaveOneOutStandardized(r []float64) {
	if allEqual(r) {
		clear(r)
		return
	}
	up := bessel(r)
	Standardized(r)
	for i := range r {
		r[i] *= up
	}
}

// bessel is n/(n-1), which makes the distance to the mean of all the one to the mean
// of the others.
func bessel(r []float64) float64 {
	n := float64(len(r))
	return n / (n - 1)
}
