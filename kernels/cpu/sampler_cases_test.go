package cpu

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"millrace/kernels"
)

var writeSamplerCases = flag.Bool("write-sampler-cases", false, "write the cases that the CUDA sampler is tested on")

// samplerCases is the file of cases; each line initialises a struct of C++.
const samplerCases = "../cuda/test/sampler_cases.inc"

// clearly is how far every number of a case may move without its token changing.
// The backends' probabilities differ by the rounding of float32, far less.
const clearly = 1e-6

// samplerCase is one token drawn from logits that are spread*uniform(logitsSeed, j).
type samplerCase struct {
	vocab      int
	logitsSeed uint64
	spread     float64
	settings   kernels.Sampling
	position   int
}

func (c *samplerCase) draw(s kernels.Sampling, u float64) (token int32, logProb float32, err error) {
	logits := make([]float32, c.vocab)
	for j := range logits {
		logits[j] = float32(c.spread * uniform(c.logitsSeed, j))
	}
	var x sampler
	return x.draw(logits, &s, u)
}

// clear tells whether a case has one answer whatever the rounding.
func (c *samplerCase) clear(token int32) bool {
	u := uniform(c.settings.Seed, c.position)
	for _, by := range []float64{-clearly, clearly} {
		moved := c.settings
		if moved.TopP > 0 && moved.TopP < 1 {
			moved.TopP += by
		}
		moved.MinP *= 1 + by
		for _, at := range []float64{u - clearly, u, u + clearly} {
			if other, _, err := c.draw(moved, min(max(at, 0), 1-clearly)); err != nil || other != token {
				return false
			}
		}
	}
	return true
}

// drawnCases are draws under every cut, of vocabularies that fill one block's loads, do
// not, and need several blocks. All settings are float32, as the CUDA sampler's are.
func drawnCases() []samplerCase {
	single := func(x float32) float64 { return float64(x) }
	var cases []samplerCase
	for i, vocab := range []int{1, 3, 23, 1000, 1003, 20000} {
		for j, s := range []kernels.Sampling{
			{}, {Temperature: 1}, {Temperature: single(0.6)}, {Temperature: 1.5},
			{Temperature: 1, TopK: 20}, {Temperature: 1, TopK: 3000}, {Temperature: 1, TopP: single(0.95)},
			{Temperature: 2, TopP: 0.5}, {Temperature: 1, MinP: single(0.1)}, {Temperature: 1.25, MinP: single(0.001)},
			{Temperature: single(0.6), TopK: 20, TopP: single(0.95)}, {Temperature: 1.5, TopK: 2500, TopP: 0.75, MinP: single(0.02)},
		} {
			s.Seed = uint64(1_000_003*i+j) << 20
			cases = append(cases, samplerCase{vocab: vocab, logitsSeed: uint64(i), spread: 12, settings: s, position: 5 + j})
			s.Seed = ^s.Seed
			cases = append(cases, samplerCase{vocab: vocab, logitsSeed: uint64(i), spread: 0.5, settings: s, position: 1 << 20})
		}
	}
	return cases
}

// TestSamplerCases keeps the file of cases in step with this sampler: the CUDA sampler
// is tested on the same file, so both draw the same tokens. Log-probabilities may
// differ by float32's rounding.
func TestSamplerCases(t *testing.T) {
	header := "// Written by TestSamplerCases of kernels/cpu; do not edit.\n" +
		"// vocabulary, seed and spread of the logits, seed, position, temperature, top_k, top_p, min_p, token, log_prob\n"
	var cases []string
	var logProbs []float32
	for _, c := range drawnCases() {
		s := c.settings
		token, logProb, err := c.draw(s, uniform(s.Seed, c.position))
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, fmt.Sprintf("{%d, %d, %v, %du, %d, %v, %d, %v, %v, %d, ", c.vocab, c.logitsSeed, c.spread,
			s.Seed, c.position, s.Temperature, s.TopK, s.TopP, s.MinP, token))
		logProbs = append(logProbs, logProb)
		if !c.clear(token) {
			t.Errorf("%v} depends on rounding: choose another seed", cases[len(cases)-1])
		}
	}
	if *writeSamplerCases {
		text := header
		for i, c := range cases {
			text += fmt.Sprintf("%s%v},\n", c, logProbs[i])
		}
		if err := os.WriteFile(samplerCases, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	file, err := os.ReadFile(samplerCases)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(strings.TrimPrefix(string(file), header), "\n"), "\n")
	if len(lines) != len(cases) {
		t.Fatalf("%s has %d cases, want %d: run with -write-sampler-cases", samplerCases, len(lines), len(cases))
	}
	for i, line := range lines {
		rest, same := strings.CutPrefix(line, cases[i])
		logProb, err := strconv.ParseFloat(strings.TrimSuffix(rest, "},"), 32)
		if !same || err != nil || math.Abs(logProb-float64(logProbs[i])) > 1e-5 {
			t.Fatalf("%s: case %d is %s, want %s%v}: run with -write-sampler-cases", samplerCases, i+1, line, cases[i], logProbs[i])
		}
	}
}
