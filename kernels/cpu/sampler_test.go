package cpu

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"millrace/kernels"
)

// distribution64 is the distribution that draw documents, by its definition.
func distribution64(logits []float32, s kernels.Sampling) []float64 {
	type entry struct {
		id int
		p  float64
	}
	var entries []entry
	var sum float64
	for i, z := range logits {
		p := math.Exp(float64(z) / s.Temperature)
		entries = append(entries, entry{i, p})
		sum += p
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(b.p, a.p), cmp.Compare(a.id, b.id)) })
	entries = slices.DeleteFunc(entries, func(e entry) bool { return e.p < s.MinP*entries[0].p })
	if s.TopK > 0 {
		entries = entries[:min(len(entries), s.TopK)]
	}
	var kept float64
	for _, e := range entries {
		kept += e.p
	}
	if s.TopP > 0 && s.TopP < 1 {
		var reached float64
		for i, e := range entries {
			if reached += e.p; reached >= s.TopP*kept {
				entries, kept = entries[:i+1], reached
				break
			}
		}
	}
	out := make([]float64, len(logits))
	for _, e := range entries {
		out[e.id] = e.p / kept
	}
	return out
}

// TestDistribution draws with evenly spaced random numbers u = (i+1/2)/N. A
// token drawn where u falls into an interval of length p is then drawn N*p times
// up to 1, whatever the order of the intervals: no statistics are needed.
func TestDistribution(t *testing.T) {
	const n = 20000
	r := rand.New(rand.NewPCG(1, 2))
	logits := normals(r, 50)
	for i := range logits {
		logits[i] *= 2
	}
	for _, s := range []kernels.Sampling{
		{Temperature: 1}, {Temperature: 0.5}, {Temperature: 1.7, TopP: 1}, {Temperature: 1, TopK: 7},
		{Temperature: 1, TopK: 1}, {Temperature: 1, TopK: 500}, {Temperature: 1, TopP: 0.8}, {Temperature: 1, TopP: 0.001},
		{Temperature: 0.8, TopK: 12, TopP: 0.6}, {Temperature: 1, MinP: 0.1}, {Temperature: 1, MinP: 1},
		{Temperature: 1.5, MinP: 0.2, TopK: 6}, {Temperature: 1, MinP: 0.05, TopP: 0.7}, {Temperature: 2, MinP: 0.1, TopK: 20, TopP: 0.5},
	} {
		want := distribution64(logits, s)
		counts := make([]int, len(logits))
		var x sampler
		for i := range n {
			token, logProb, err := x.draw(slices.Clone(logits), &s, (float64(i)+0.5)/n)
			if err != nil {
				t.Fatal(err)
			}
			counts[token]++
			if math.Abs(float64(logProb)-math.Log(want[token])) > 1e-5 {
				t.Fatalf("%+v: token %d has log-probability %v, want %v", s, token, logProb, math.Log(want[token]))
			}
		}
		for id, p := range want {
			// 1e-6*n: probabilities are float32.
			if math.Abs(float64(counts[id])-p*n) > 1+1e-6*n {
				t.Errorf("%+v: token %d drawn %d times of %d, want %v", s, id, counts[id], n, p*n)
			}
		}
	}
}

// TestGreedy: temperature 0 is the first of the most probable tokens.
func TestGreedy(t *testing.T) {
	var x sampler
	token, logProb, err := x.draw([]float32{1, 5, -2, 5}, &kernels.Sampling{}, 0.99)
	if token != 1 || logProb != 0 || err != nil {
		t.Errorf("drew %d, %v, %v", token, logProb, err)
	}
}

// TestBrokenLogits: a policy that has diverged gives an error, not a token.
func TestBrokenLogits(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, s := range []kernels.Sampling{{}, {Temperature: 1}, {Temperature: 1, TopK: 2}} {
		for _, logits := range [][]float32{{nan, nan, nan}, {0, inf, 1}, {-inf, -inf, -inf}} {
			var x sampler
			if token, _, err := x.draw(slices.Clone(logits), &s, 0.5); err == nil {
				t.Errorf("%+v drew %d from %v", s, token, logits)
			}
		}
	}
}

// TestUniform: the numbers of many positions, and of many seeds, fill 16 bins
// evenly. Chi-squared with 15 degrees of freedom exceeds 50 once in 10^5; the
// inputs are fixed, so the test cannot fail by chance tomorrow.
func TestUniform(t *testing.T) {
	const n = 16000
	for name, draw := range map[string]func(i int) float64{
		"positions": func(i int) float64 { return uniform(1, i) },
		"seeds":     func(i int) float64 { return uniform(uint64(i), 100) },
		"diagonal":  func(i int) float64 { return uniform(uint64(i), i) },
	} {
		var bins, pairs [16]int
		for i := range n {
			u := draw(i)
			if u < 0 || u >= 1 {
				t.Fatalf("%s: %v", name, u)
			}
			bins[int(u*16)]++
			pairs[int(u*4)*4+int(draw(i+1)*4)]++
		}
		for what, counts := range map[string][16]int{"values": bins, "pairs": pairs} {
			var chi float64
			for _, c := range counts {
				chi += (float64(c) - n/16) * (float64(c) - n/16) / (n / 16)
			}
			if chi > 50 {
				t.Errorf("%s of %s: chi-squared %v", what, name, chi)
			}
		}
	}
	if uniform(1, 2) != uniform(1, 2) {
		t.Error("not a function of its arguments")
	}
}

func TestCheckSampling(t *testing.T) {
	for _, s := range []kernels.Sampling{
		{Temperature: -1, MaxTokens: 1}, {Temperature: math.NaN(), MaxTokens: 1}, {Temperature: math.Inf(1), MaxTokens: 1},
		{TopK: -1, MaxTokens: 1}, {TopP: 1.1, MaxTokens: 1}, {TopP: math.NaN(), MaxTokens: 1}, {MinP: -0.1, MaxTokens: 1}, {MinP: 1.1, MaxTokens: 1}, {MinP: math.NaN(), MaxTokens: 1}, {},
	} {
		t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
			if s.Validate() == nil {
				t.Error("accepted")
			}
		})
	}
}
