package cuda

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"millrace/kernels"
	"millrace/kernels/cpu"
	"millrace/kernels/kernelstest"
)

func newGenerator(t testing.TB, d *Device, weights kernels.Weights, o GeneratorOptions) *Generator {
	t.Helper()
	g, err := d.NewGenerator(model, weights, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func newSession(t testing.TB, g kernels.Generator) *session {
	t.Helper()
	return kernelstest.Open(t, g).(*session)
}

// generate is kernelstest.Generate for goroutines, which must not end the test.
func generate(t testing.TB, s kernels.Session, prompt []int32, sampling kernels.Sampling) kernels.Completion {
	t.Helper()
	c, err := s.Generate(t.Context(), prompt, sampling)
	if err != nil {
		t.Error(err)
	}
	return c
}

// initialWeights are sharp enough for sampled tokens to differ.
func initialWeights(t *testing.T, seed uint64) kernels.Tensors {
	t.Helper()
	weights, err := cpu.InitWeights(model, seed)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range weights {
		for i := range w.Data {
			w.Data[i] *= 3
		}
	}
	return weights
}

func prompt(r *rand.Rand, n int) []int32 {
	tokens := make([]int32, n)
	for i := range tokens {
		tokens[i] = int32(r.IntN(model.VocabSize))
	}
	return tokens
}

// same demands the same tokens, versions and end, and log-probabilities as near as told.
func same(t testing.TB, what string, got, want kernels.Completion, tolerance float64) {
	t.Helper()
	if !slices.Equal(got.Tokens, want.Tokens) || !slices.Equal(got.Versions, want.Versions) || got.Stopped != want.Stopped {
		t.Fatalf("%s: tokens %v, want %v; versions %v, want %v; stopped %v, want %v",
			what, got.Tokens, want.Tokens, got.Versions, want.Versions, got.Stopped, want.Stopped)
	}
	for i := range want.LogProbs {
		if !(math.Abs(float64(got.LogProbs[i]-want.LogProbs[i])) <= tolerance) {
			t.Errorf("%s: log-probability %d is %v, want %v", what, i, got.LogProbs[i], want.LogProbs[i])
		}
	}
}

// TestGeneratorAgainstCPU: sessions of several turns, in every kind of sampling, over more
// than one page and part of a prompt: the tokens are those of package cpu, and so are the
// log-probabilities but for rounding.
func TestGeneratorAgainstCPU(t *testing.T) {
	d := open(t)
	weights := initialWeights(t, 3)
	host, err := cpu.NewGenerator(model, weights, 1, cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	device := newGenerator(t, d, weights, GeneratorOptions{PrefillTokens: 9, Sequences: 3})
	r := random(t)
	var sessions sync.WaitGroup
	for name, sampling := range map[string]kernels.Sampling{
		"greedy":      {MaxTokens: 9},
		"temperature": {Temperature: 0.8, MaxTokens: 9, Seed: r.Uint64()},
		"top-k":       {Temperature: 1.2, TopK: 5, MaxTokens: 9, Seed: r.Uint64()},
		"top-p":       {Temperature: 1, TopP: 0.7, MaxTokens: 9, Seed: r.Uint64()},
		"min-p, stop": {Temperature: 1, MinP: 0.1, MaxTokens: 9, Seed: r.Uint64(), Stop: []int32{1, 5, 7, 11}},
	} {
		prompts := [][]int32{prompt(r, 2), prompt(r, 50), prompt(r, 1)}
		onHost, onDevice := kernelstest.Open(t, host), newSession(t, device)
		sessions.Go(func() {
			for i, p := range prompts {
				want := generate(t, onHost, p, sampling)
				got := generate(t, onDevice, p, sampling)
				if !slices.Equal(got.Tokens, want.Tokens) {
					t.Errorf("%s, turn %d: tokens %v, want %v", name, i, got.Tokens, want.Tokens)
					return
				}
				same(t, name, got, want, 1e-4)
			}
			if onHost.Len() != onDevice.Len() {
				t.Errorf("%s: length %d, want %d", name, onDevice.Len(), onHost.Len())
			}
		})
	}
	sessions.Wait()
	if free := device.CacheStats(); free.Pages-free.Available < 5 {
		t.Errorf("five open sessions hold %d pages", free.Pages-free.Available)
	}
}

var turn = kernels.Sampling{Temperature: 0.9, MaxTokens: 12, Seed: 7}

// turns runs a session of three turns and joins what it sampled.
func turns(t testing.TB, s kernels.Session) (all kernels.Completion) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 5))
	for range 3 {
		c := generate(t, s, prompt(r, 17), turn)
		all.Tokens = append(all.Tokens, c.Tokens...)
		all.LogProbs = append(all.LogProbs, c.LogProbs...)
		all.Versions = append(all.Versions, c.Versions...)
	}
	return all
}

// TestBatchDoesNotShow: a session gives the same bits alone and beside others in all stages
// of their work, in ticks of one sequence and of eight, captured and not.
func TestBatchDoesNotShow(t *testing.T) {
	d := open(t)
	for _, precision := range []Precision{FP32, BF16} {
		t.Run(precision.String(), func(t *testing.T) {
			weights := initialWeights(t, 3)
			alone := newGenerator(t, d, weights, GeneratorOptions{Precision: precision})
			want := turns(t, newSession(t, alone))
			g := newGenerator(t, d, weights, GeneratorOptions{Precision: precision, PrefillTokens: 16})
			ctx, stop := context.WithCancel(t.Context())
			var others sync.WaitGroup
			for i := range 6 {
				others.Go(func() {
					r := rand.New(rand.NewPCG(uint64(i), 3))
					for ctx.Err() == nil {
						s, err := g.Open()
						if err != nil {
							t.Error(err)
							return
						}
						sampling := kernels.Sampling{Temperature: 1, MaxTokens: 1 + r.IntN(9), Seed: uint64(i)}
						if _, err := s.Generate(ctx, prompt(r, 1+r.IntN(80)), sampling); err != nil && ctx.Err() == nil {
							t.Error(err)
						}
						s.Close()
					}
				})
			}
			got := turns(t, newSession(t, g))
			stop()
			others.Wait()
			same(t, "in a batch", got, want, 0)
		})
	}
}

// TestEngineAgainstLearner: log-probabilities of what was sampled are the learner's of the
// same weights, at the sampling temperature and, of the last token, at 1. In bfloat16 both
// round the same values, in sums of other orders.
func TestEngineAgainstLearner(t *testing.T) {
	d := open(t)
	for precision, tolerance := range map[Precision]float64{FP32: 1e-4, BF16: 0.05} {
		t.Run(precision.String(), func(t *testing.T) {
			trainer := newTrainer(t, d, model, initialWeights(t, 3), Options{Precision: precision})
			g := newGenerator(t, d, trainer.Weights(), GeneratorOptions{Precision: precision})
			question := prompt(random(t), 61)
			c := generate(t, newSession(t, g), question, turn)
			tokens := slices.Concat(question, c.Tokens)
			at := func(temperature float64) []float32 {
				all, err := trainer.LogProbs(t.Context(), []kernels.Sequence{{ID: "sampled", Tokens: tokens}}, temperature)
				if err != nil {
					t.Fatal(err)
				}
				return all[0][len(question):]
			}
			want := c
			want.LogProbs = at(turn.Temperature)
			same(t, "engine against learner", c, want, tolerance)
			last := len(c.Tokens) - 1
			got, untempered := g.tick.sampled[0].logProbUntempered, at(1)[last]
			if !(math.Abs(float64(got-untempered)) <= tolerance) {
				t.Errorf("the last token's log-probability at temperature 1 is %v, want %v", got, untempered)
			}
		})
	}
}
