package evaluate

import (
	"math"
	"testing"

	"millrace/schemas"
)

// choose is C(n, k) by Pascal's rule, the dumb twin's ingredient.
func choose(n, k int) float64 {
	if k < 0 || k > n {
		return 0
	}
	if k == 0 || k == n {
		return 1
	}
	return choose(n-1, k-1) + choose(n-1, k)
}

func TestPassAtKEqualsTheBinomialFormula(t *testing.T) {
	for n := 1; n <= 12; n++ {
		for c := 0; c <= n; c++ {
			for k := 1; k <= n; k++ {
				want := 1 - choose(n-c, k)/choose(n, k)
				if got := PassAtK(n, c, k); math.Abs(got-want) > 1e-12 {
					t.Errorf("PassAtK(%d, %d, %d) = %v, want %v", n, c, k, got, want)
				}
			}
		}
	}
}

func TestPassAtKOfNothing(t *testing.T) {
	for _, c := range []struct{ n, c, k int }{{0, 0, 1}, {4, 2, 0}} {
		if got := PassAtK(c.n, c.c, c.k); got != 0 {
			t.Errorf("PassAtK(%v) = %v, want 0", c, got)
		}
	}
	if got := PassAtK(3, 1, 8); got != 1 {
		t.Errorf("k above n is cut to n: got %v, want 1", got)
	}
}

func reward(task string, value float64, failure string) schemas.Reward {
	return schemas.Reward{Trajectory: schemas.Trajectory{Task: schemas.Task{ID: task}}, Value: value, Failure: failure}
}

func TestOutcomesKeepFailuresOutOfRates(t *testing.T) {
	got := Outcomes([]schemas.Reward{
		reward("b", 1, ""), reward("a", 0, ""), reward("b", 0, ""), reward("b", 0, "disk full"), reward("c", 0, "no sandbox"),
	})
	want := []Outcome{{"a", 1, 0, 0}, {"b", 2, 1, 1}, {"c", 0, 0, 1}}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("outcome %d: got %v, want %v", i, got[i], want[i])
		}
	}
	r := Pass(got, 1, 1)
	if r.Mean != 0.25 || r.Tasks != 2 || r.Rollouts != 3 { // (0/1 + 1/2) / 2
		t.Errorf("got %+v", r)
	}
}

func TestPassIntervalIsThatOfTheBinomial(t *testing.T) {
	// 400 tasks of one rollout, 100 solved: the mean's standard deviation is
	// sqrt(.25*.75/400) = 0.0217, so the interval is .25 -+ 1.96*.0217.
	var outcomes []Outcome
	for i := range 400 {
		o := Outcome{Scored: 1}
		if i < 100 {
			o.Solved = 1
		}
		outcomes = append(outcomes, o)
	}
	r := Pass(outcomes, 1, 7)
	// Four standard errors of a bootstrap quantile from 2000 draws, about 0.004,
	// and the grain of 1/400.
	const tolerance = 0.0065
	if math.Abs(r.Low-0.2076) > tolerance || math.Abs(r.High-0.2924) > tolerance {
		t.Errorf("interval %v..%v, want 0.2076..0.2924 within %v", r.Low, r.High, tolerance)
	}
	if again := Pass(outcomes, 1, 7); again != r {
		t.Errorf("another interval from the same seed: %+v and %+v", r, again)
	}
}
