package advantage

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func apply(t *testing.T, name string, r ...float64) []float64 {
	t.Helper()
	e, ok := ByName(name)
	if !ok {
		t.Fatalf("no estimator %q", name)
	}
	r = slices.Clone(r)
	e(r)
	return r
}

func near(got, want, relative float64) bool {
	return math.Abs(got-want) <= relative*max(1, math.Abs(want))
}

func TestEstimators(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    []float64
		want []float64
	}{
		// Two groups, computed from the formulas in plain Python in float64.
		// Group A: mean .5, deviation sqrt((.25+.25+0)/2) = .5; .5/.500001.
		{"standardized", []float64{1, 0, 0.5}, []float64{.999998000004, -.999998000004, 0}},
		// Group B: mean 1, deviation sqrt(2); 1/(1.41421356+1e-6).
		{"standardized", []float64{2, 0}, []float64{.7071062811869011, -.7071062811869011}},
		{"centered", []float64{1, 0, 0.5}, []float64{.5, -.5, 0}},
		{"centered", []float64{2, 0}, []float64{1, -1}},
		// 1 - (0+.5)/2, 0 - (1+.5)/2, .5 - (1+0)/2
		{"leave-one-out", []float64{1, 0, 0.5}, []float64{.75, -.75, 0}},
		{"leave-one-out", []float64{2, 0}, []float64{2, -2}},
		// One of eight solved: 1 - 0/7, 0 - 1/7.
		{"leave-one-out", []float64{1, 0, 0, 0, 0, 0, 0, 0},
			[]float64{1, -1. / 7, -1. / 7, -1. / 7, -1. / 7, -1. / 7, -1. / 7, -1. / 7}},
		{"leave-one-out-published", []float64{1, 0, 0.5}, []float64{.75, -.75, 0}},
		// 3/2 and 2/1 times the standardized ones.
		{"leave-one-out-standardized", []float64{1, 0, 0.5}, []float64{1.499997000006, -1.499997000006, 0}},
		{"leave-one-out-standardized", []float64{2, 0}, []float64{1.4142125623738022, -1.4142125623738022}},
		{"leave-one-out-standardized", []float64{3}, []float64{0}},
		// Squares beyond float64: the deviation of 1e300 and 0 is 1e300/sqrt(2).
		{"standardized", []float64{1e300, 0}, []float64{math.Sqrt2 / 2, -math.Sqrt2 / 2}},
		{"centered", []float64{1e300, 0}, []float64{5e299, -5e299}},
		// Far below ε the deviation is lost in it: 5e-301/1e-6.
		{"standardized", []float64{1e-300, 0}, []float64{5e-295, -5e-295}},
		// A single member.
		{"leave-one-out", []float64{1}, []float64{0}},
		{"leave-one-out-published", []float64{1}, []float64{1}},
		{"leave-one-out-published", []float64{-.5}, []float64{-.5}},
		{"centered", []float64{1}, []float64{0}},
		{"standardized", []float64{1}, []float64{1 / 1.000001}},
	} {
		got := apply(t, tt.name, tt.r...)
		for i := range tt.want {
			if !near(got[i], tt.want[i], 1e-9) {
				t.Errorf("%s(%v)[%d] = %.17g, want %.17g", tt.name, tt.r, i, got[i], tt.want[i])
			}
		}
	}
}

// Equal rewards say nothing. Values are chosen whose rounded mean is not the
// value: (.1+.1+.1)/3 = .10000000000000002.
func TestAllEqualIsExactlyZero(t *testing.T) {
	if m := mean([]float64{.1, .1, .1}); m == .1 {
		t.Fatal("the mean of three .1 is exact here, so this test shows nothing")
	}
	for _, name := range Names() {
		for _, v := range []float64{0, 1, -1, .1, 1. / 3, 1e-300, 1e300, math.MaxFloat64} {
			for n := 2; n < 20; n++ {
				for i, a := range apply(t, name, slices.Repeat([]float64{v}, n)...) {
					if a != 0 {
						t.Errorf("%s of %d times %v: [%d] = %v", name, n, v, i, a)
					}
				}
			}
		}
	}
}

// twins are the formulas in the slowest and plainest way: every sum over again
// for every member, from the definition.
var twins = map[string]func(r []float64, i int) float64{
	"leave-one-out": func(r []float64, i int) float64 {
		if len(r) == 1 {
			return 0
		}
		return r[i] - meanOfOthers(r, i)
	},
	"leave-one-out-published": func(r []float64, i int) float64 {
		if len(r) == 1 {
			return r[0]
		}
		return r[i] - meanOfOthers(r, i)
	},
	"leave-one-out-standardized": func(r []float64, i int) float64 {
		if len(r) == 1 {
			return 0
		}
		return (r[i] - meanOfOthers(r, i)) / (deviationOfPairs(r) + 1e-6)
	},
	"centered": func(r []float64, i int) float64 {
		distance := 0.0 // r_i - mean = mean of the differences
		for _, v := range r {
			distance += r[i] - v
		}
		return distance / float64(len(r))
	},
	"standardized": func(r []float64, i int) float64 {
		if len(r) == 1 {
			return r[0] / 1.000001
		}
		distance := 0.0
		for _, a := range r {
			distance += r[i] - a
		}
		return distance / float64(len(r)) / (deviationOfPairs(r) + 1e-6)
	},
}

// deviationOfPairs uses Σ_jk (r_j-r_k)² = 2n Σ_j (r_j-mean)².
func deviationOfPairs(r []float64) float64 {
	pairs := 0.0
	for _, a := range r {
		for _, b := range r {
			pairs += (a - b) * (a - b)
		}
	}
	n := float64(len(r))
	return math.Sqrt(pairs / (2 * n) / (n - 1))
}

func meanOfOthers(r []float64, i int) float64 {
	others := 0.0
	for j, v := range r {
		if j != i {
			others += v
		}
	}
	return others / float64(len(r)-1)
}

func TestAgainstTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range Names() {
		for range 2000 {
			r := randomRewards(rng)
			got := apply(t, name, r...)
			for i := range r {
				// Some 16 additions of numbers near 4 lose at most 16·4·2^-53 ≈ 1e-14;
				// the deviation, at least .01 when not 0, divides by that.
				if want := twins[name](r, i); !near(got[i], want, 1e-12) {
					t.Fatalf("%s(%v)[%d] = %.17g, twin says %.17g", name, r, i, got[i], want)
				}
			}
		}
	}
}

// randomRewards are 1 to 16 rewards of [-2, 2] in hundredths, or all test
// rewards of 0 and 1.
func randomRewards(rng *rand.Rand) []float64 {
	r := make([]float64, 1+rng.IntN(16))
	binary := rng.IntN(2) == 0
	for i := range r {
		r[i] = float64(rng.IntN(401)-200) / 100
		if binary {
			r[i] = float64(rng.IntN(2))
		}
	}
	return r
}

func TestProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		r := randomRewards(rng)
		if len(r) == 1 {
			continue // the table has them; published single members are not centered
		}
		for _, name := range Names() {
			a := apply(t, name, r...)
			sum := 0.0
			for _, v := range a {
				sum += v
			}
			if !near(sum, 0, 1e-11) {
				t.Fatalf("%s(%v) sums to %v, not 0", name, r, sum)
			}

			shifted, scaled := slices.Clone(r), slices.Clone(r)
			for i := range r {
				shifted[i] += 0.75
				scaled[i] *= 4
			}
			s, c := apply(t, name, shifted...), apply(t, name, scaled...)
			factor := 4.0 // an advantage has the reward's unit,
			tolerance := 1e-11
			if strings.HasSuffix(name, "standardized") {
				// unless it is standardised. ε enters relative to the deviation,
				// which is at least .0025 when not 0.
				factor, tolerance = 1, 1e-3
			}
			for i := range r {
				if !near(s[i], a[i], 1e-11) {
					t.Fatalf("%s(%v) changes by a shift: %v to %v", name, r, a[i], s[i])
				}
				if !near(c[i], factor*a[i], tolerance) {
					t.Fatalf("%s(%v) scaled by 4: %v to %v", name, r, a[i], c[i])
				}
				for j := range r {
					if r[i] > r[j] && a[i] <= a[j] {
						t.Fatalf("%s(%v): the better of %d and %d has not the larger advantage: %v", name, r, i, j, a)
					}
				}
			}
		}
	}
}

func FuzzEstimators(f *testing.F) {
	f.Add(1., 0., .5, uint8(3))
	f.Add(.1, .1, .1, uint8(7))
	f.Add(1e150, -1e150, 0., uint8(5))
	f.Add(1e306, -1e306, 1e-306, uint8(6))
	f.Add(5e-324, 0., 1., uint8(1))
	// Finite in, finite out, while the sum of the rewards is in range; and the same
	// input gives the same bits.
	f.Fuzz(func(t *testing.T, a, b, c float64, n uint8) {
		var r []float64
		for i := range 1 + int(n)%16 {
			v := []float64{a, b, c}[i%3]
			if !(math.Abs(v) <= 1e306) {
				t.Skip()
			}
			r = append(r, v)
		}
		for _, name := range Names() {
			x, y := apply(t, name, r...), apply(t, name, r...)
			for i := range x {
				if math.IsNaN(x[i]) || math.IsInf(x[i], 0) {
					t.Fatalf("%s(%v)[%d] = %v", name, r, i, x[i])
				}
				if math.Float64bits(x[i]) != math.Float64bits(y[i]) {
					t.Fatalf("%s(%v)[%d] = %v, then %v", name, r, i, x[i], y[i])
				}
			}
		}
	})
}
