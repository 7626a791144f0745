package cpu

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"millrace/kernels"
	"millrace/kernels/kernelstest"
)

func mustGenerator(t testing.TB, cfg kernels.Config, weights []kernels.Tensor, o Options) kernels.MeteredGenerator {
	t.Helper()
	g, err := NewGenerator(cfg, weights, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

var sampled = kernels.Sampling{Temperature: 0.8, MaxTokens: 40, Seed: 7}

// TestGeneratorMatchesTrainer: several turns, prompts longer than a tick takes,
// contexts over key blocks: the log-probabilities are the trainer's, to the bit.
func TestGeneratorMatchesTrainer(t *testing.T) {
	for _, tied := range []bool{true, false} {
		cfg := tiny(tied)
		weights := randomWeights(t, cfg, 2)
		s := kernelstest.Open(t, mustGenerator(t, cfg, weights, Options{PrefillTokens: 10}))
		r := rand.New(rand.NewPCG(1, 1))
		var tokens []int32
		var logProbs []float32 // 0 at prompts
		for _, n := range []int{3, 75, 1, 20} {
			prompt := randomTokens(r, n, cfg.VocabSize)
			c := kernelstest.Generate(t, s, prompt, sampled)
			if len(c.Tokens) != sampled.MaxTokens || c.Stopped {
				t.Fatalf("%d tokens, stopped %v", len(c.Tokens), c.Stopped)
			}
			tokens = append(append(tokens, prompt...), c.Tokens...)
			logProbs = append(append(logProbs, make([]float32, n)...), c.LogProbs...)
		}
		if s.Len() != len(tokens) {
			t.Errorf("length %d, want %d", s.Len(), len(tokens))
		}
		want := mustLogProbs(t, mustTrainer(t, cfg, weights), sampled.Temperature, tokens)[0]
		for i := range want {
			if logProbs[i] == 0 {
				want[i] = 0
			}
		}
		equalBits(t, "log-probabilities", logProbs, want)
	}
}

// TestBatchDoesNotShow: a session gives the same bits alone and beside thirty
// others in all stages of their work.
func TestBatchDoesNotShow(t *testing.T) {
	cfg := tiny(true)
	weights := randomWeights(t, cfg, 2)
	turns := func(s kernels.Session) (c kernels.Completion) {
		for i := range 3 {
			next := kernelstest.Generate(t, s, []int32{1, 2, int32(i)}, sampled)
			c.Tokens = append(c.Tokens, next.Tokens...)
			c.LogProbs = append(c.LogProbs, next.LogProbs...)
		}
		return c
	}
	want := turns(kernelstest.Open(t, mustGenerator(t, cfg, weights, Options{})))

	g := mustGenerator(t, cfg, weights, Options{PrefillTokens: 16})
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	for i := range 30 {
		others.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 3))
			for ctx.Err() == nil {
				s, err := g.Open()
				if err != nil {
					t.Error(err)
					return
				}
				prompt := randomTokens(r, 1+r.IntN(100), cfg.VocabSize)
				if _, err := s.Generate(ctx, prompt, kernels.Sampling{Temperature: 1, MaxTokens: 1 + r.IntN(50), Seed: uint64(i)}); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				s.Close()
			}
		})
	}
	got := turns(kernelstest.Open(t, g))
	stop()
	others.Wait()
	if !slices.Equal(got.Tokens, want.Tokens) {
		t.Fatal("tokens differ")
	}
	equalBits(t, "log-probabilities", got.LogProbs, want.LogProbs)
}

// TestSeeds: the seed decides the tokens.
func TestSeeds(t *testing.T) {
	cfg := tiny(true)
	g := mustGenerator(t, cfg, randomWeights(t, cfg, 2), Options{})
	draw := func(seed uint64) []int32 {
		s := sampled
		s.Seed = seed
		return kernelstest.Generate(t, kernelstest.Open(t, g), []int32{4}, s).Tokens
	}
	if !slices.Equal(draw(1), draw(1)) {
		t.Error("one seed, two sequences")
	}
	if slices.Equal(draw(1), draw(2)) {
		t.Error("two seeds, one sequence")
	}
}

// TestGreedyAndStop: temperature 0 follows the twin's most probable token, up to
// and with the stop id.
func TestGreedyAndStop(t *testing.T) {
	cfg := tiny(false)
	weights := randomWeights(t, cfg, 2)
	w := newTwin(cfg, weights)
	tokens := []int32{3, 1}
	for range 8 {
		row := w.logits(tokens)[len(tokens)-1]
		best := 0
		for i, z := range row {
			if z > row[best] {
				best = i
			}
		}
		tokens = append(tokens, int32(best))
	}
	g := mustGenerator(t, cfg, weights, Options{})
	c := kernelstest.Generate(t, kernelstest.Open(t, g), tokens[:2], kernels.Sampling{MaxTokens: 8})
	if !slices.Equal(c.Tokens, tokens[2:]) {
		t.Errorf("%v, want %v", c.Tokens, tokens[2:])
	}
	stop := tokens[5]
	end := slices.Index(tokens[2:], stop) + 1
	c = kernelstest.Generate(t, kernelstest.Open(t, g), tokens[:2], kernels.Sampling{MaxTokens: 8, Stop: []int32{99, stop}})
	if !c.Stopped || !slices.Equal(c.Tokens, tokens[2:2+end]) {
		t.Errorf("%v, stopped %v; want %v", c.Tokens, c.Stopped, tokens[2:2+end])
	}
}

// TestPublish: new weights decide the next token, old cache entries stay, and
// every token tells its version.
func TestPublish(t *testing.T) {
	cfg := tiny(true)
	first, second := randomWeights(t, cfg, 2), randomWeights(t, cfg, 3)
	first2 := clone(first)
	run := func(between []kernels.Tensor) (kernels.Completion, kernels.Completion) {
		g := mustGenerator(t, cfg, first, Options{})
		s := kernelstest.Open(t, g)
		a := kernelstest.Generate(t, s, []int32{1, 2, 3}, sampled)
		if between != nil {
			if err := g.Publish(2, kernels.Tensors(between)); err != nil {
				t.Fatal(err)
			}
			for _, x := range between {
				clear(x.Data) // the engine has its own copy
			}
			if g.Version() != 2 {
				t.Errorf("version is %d", g.Version())
			}
		}
		return a, kernelstest.Generate(t, s, []int32{4}, sampled)
	}
	_, old := run(nil)
	_, same := run(first2)
	_, changed := run(second)
	if !slices.Equal(old.Tokens, same.Tokens) {
		t.Error("the same weights published again sample other tokens")
	}
	equalBits(t, "log-probabilities", same.LogProbs, old.LogProbs)
	if slices.Equal(changed.LogProbs, old.LogProbs) {
		t.Error("other weights sample with the same log-probabilities")
	}
	for i := range old.Versions {
		if old.Versions[i] != 1 || same.Versions[i] != 2 {
			t.Fatalf("token %d: versions %d and %d", i, old.Versions[i], same.Versions[i])
		}
	}
}

// TestPublishWithinACall: the version rises once, from one token to the next.
func TestPublishWithinACall(t *testing.T) {
	cfg := tiny(true)
	weights := randomWeights(t, cfg, 2)
	g := mustGenerator(t, cfg, weights, Options{})
	s := kernelstest.Open(t, g)
	done := make(chan kernels.Completion)
	go func() {
		c, _ := s.Generate(t.Context(), []int32{1}, kernels.Sampling{Temperature: 1, MaxTokens: 390})
		done <- c
	}()
	kernelstest.WaitForToken(g)
	if err := g.Publish(2, kernels.Tensors(weights)); err != nil {
		t.Fatal(err)
	}
	c := <-done
	if len(c.Versions) != 390 || !slices.IsSorted(c.Versions) || c.Versions[0] != 1 {
		t.Errorf("versions %v", c.Versions)
	}
}

// TestNoAllocationPerToken: a call that samples ten times more allocates no
// more.
func TestNoAllocationPerToken(t *testing.T) {
	cfg := tiny(true)
	g := mustGenerator(t, cfg, randomWeights(t, cfg, 2), Options{})
	count := func(tokens int) float64 {
		return testing.AllocsPerRun(20, func() {
			s, err := g.Open()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Generate(context.Background(), []int32{1}, kernels.Sampling{Temperature: 1, MaxTokens: tokens}); err != nil {
				t.Fatal(err)
			}
			s.Close()
		})
	}
	count(300)
	// Both fit in one cache page.
	if few, many := count(5), count(50); many > few+2 {
		t.Errorf("%v allocations for 5 tokens, %v for 50", few, many)
	}
}
