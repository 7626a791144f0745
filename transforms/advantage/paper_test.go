package advantage

import (
	"fmt"
	"math"
	"math/bits"
	"testing"
)

// outcomes calls f with every vector of n test rewards and its probability when
// each is 1 with probability p.
func outcomes(n int, p float64, f func(r []float64, probability float64)) {
	for k := range 1 << n {
		r := make([]float64, n)
		for i := range r {
			r[i] = float64(k >> i & 1)
		}
		ones := bits.OnesCount(uint(k))
		f(r, math.Pow(p, float64(ones))*math.Pow(1-p, float64(n-ones)))
	}
}

// gradient is the expectation of the policy-gradient estimate
// mean_i A_i·d log π(r_i)/dp of a policy that solves the task with probability
// p, over all outcomes of a group of n. The true gradient of the expected
// reward p is 1.
func gradient(t *testing.T, estimator string, n int, p float64) float64 {
	t.Helper()
	expected := 0.0
	outcomes(n, p, func(r []float64, probability float64) {
		for i, a := range apply(t, estimator, r...) {
			score := 1 / p
			if r[i] == 0 {
				score = -1 / (1 - p)
			}
			expected += probability * a * score / float64(n)
		}
	})
	return expected
}

// Reference: RLOO, arXiv:2402.14740, section 3.3: the leave-one-out baseline
// leaves the gradient unbiased.
func TestLeaveOneOutIsUnbiased(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		for _, p := range []float64{.1, .5, .9} {
			if g := gradient(t, "leave-one-out", n, p); !near(g, 1, 1e-12) {
				t.Errorf("n %d, p %v: expected gradient %v, want 1", n, p, g)
			}
		}
	}
}

// Reference: Dr. GRPO, arXiv:2503.20783, appendix A: subtracting the mean of
// the whole group is RLOO scaled by (n-1)/n, which a learning rate absorbs.
func TestCenteredIsLeaveOneOutScaled(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		want := float64(n-1) / float64(n)
		if g := gradient(t, "centered", n, .3); !near(g, want, 1e-12) {
			t.Errorf("n %d: expected gradient %v, want (n-1)/n = %v", n, g, want)
		}
	}
}

// Reference: Dr. GRPO, section 3.1: dividing by the deviation weighs tasks that
// are nearly always or nearly never solved more than tasks solved half of the
// time; without it all weigh the same.
func TestStandardizingWeighsByDifficulty(t *testing.T) {
	const n = 8
	hard, half := gradient(t, "standardized", n, .05), gradient(t, "standardized", n, .5)
	if hard < 1.2*half {
		t.Errorf("standardized: gradient %v at p = .05 and %v at .5; the first should be far larger", hard, half)
	}
	if a, b := gradient(t, "centered", n, .05), gradient(t, "centered", n, .5); !near(a, b, 1e-12) {
		t.Errorf("centered: gradient %v at p = .05 and %v at .5; they should be equal", a, b)
	}
}

// Reference: DeepSWE (rLLM and its verl fork): A_i = r_i - (Σ_j r_j - r_i)/(G-1),
// and groups that are all 0 or all 1 give A = 0 and are kept.
func TestDeepSWEBaseline(t *testing.T) {
	const g = 8
	for solved := 0; solved <= g; solved++ {
		t.Run(fmt.Sprintf("%d of 8 solved", solved), func(t *testing.T) {
			r := make([]float64, g)
			for i := range solved {
				r[i] = 1
			}
			for i, a := range apply(t, "leave-one-out-published", r...) {
				want := r[i] - (float64(solved)-r[i])/(g-1)
				if solved == 0 || solved == g {
					want = 0
				}
				if !near(a, want, 1e-15) {
					t.Errorf("member %d with reward %v: %v, want %v", i, r[i], a, want)
				}
			}
		})
	}
}
