package cpu

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"millrace/kernels"
)

// waitForToken returns when the generator has sampled something.
func waitForToken(g kernels.MeteredGenerator) {
	for g.Stats().Generated == 0 {
		time.Sleep(100 * time.Microsecond)
	}
}

// TestContext: a completion that runs into the context's end is returned with
// the error, a prompt that does not fit is refused.
func TestContext(t *testing.T) {
	cfg := tiny(true)
	cfg.MaxPositionEmbeddings = 70
	g := mustGenerator(t, cfg, randomWeights(t, cfg, 2), Options{})
	s := mustOpen(t, g)
	c, err := s.Generate(t.Context(), make([]int32, 60), kernels.Sampling{Temperature: 1, MaxTokens: 1000})
	if !errors.Is(err, kernels.ErrContextFull) || len(c.Tokens) != 10 || s.Len() != 70 {
		t.Errorf("%d tokens, length %d, %v", len(c.Tokens), s.Len(), err)
	}
	if _, err := s.Generate(t.Context(), nil, sampled); !errors.Is(err, kernels.ErrContextFull) {
		t.Errorf("a full session gives %v", err)
	}
	s = mustOpen(t, g)
	if _, err := s.Generate(t.Context(), make([]int32, 70), sampled); !errors.Is(err, kernels.ErrContextFull) || s.Len() != 0 {
		t.Errorf("prompt of 70 gives %v, length %d", err, s.Len())
	}
	exact := sampled
	exact.MaxTokens = 1
	if c := mustGenerate(t, s, make([]int32, 69), exact); len(c.Tokens) != 1 || s.Len() != 70 {
		t.Errorf("the last place is not used: length %d", s.Len())
	}
}

// TestCancel: a call ends with its context's error, its session is spoilt, others
// go on, and their calls see nothing of it.
func TestCancel(t *testing.T) {
	cfg := tiny(true)
	cfg.MaxPositionEmbeddings = 1 << 20
	g := mustGenerator(t, cfg, randomWeights(t, cfg, 2), Options{})
	s := mustOpen(t, g)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := s.Generate(ctx, []int32{1}, kernels.Sampling{Temperature: 1, MaxTokens: 1 << 19})
		done <- err
	}()
	waitForToken(g)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("canceled call gives %v", err)
	}
	if _, err := s.Generate(t.Context(), []int32{1}, sampled); err == nil {
		t.Error("a spoilt session takes a call")
	}
	mustGenerate(t, mustOpen(t, g), []int32{1}, sampled)
}

// TestClose: calls in progress end with an error, later ones are refused.
func TestClose(t *testing.T) {
	cfg := tiny(true)
	cfg.MaxPositionEmbeddings = 1 << 20
	weights := randomWeights(t, cfg, 2)
	g := mustGenerator(t, cfg, weights, Options{})
	s, late := mustOpen(t, g), mustOpen(t, g)
	done := make(chan error)
	go func() {
		_, err := s.Generate(t.Context(), []int32{1}, kernels.Sampling{Temperature: 1, MaxTokens: 1 << 19})
		done <- err
	}()
	waitForToken(g)
	for range 2 {
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; !errors.Is(err, errClosed) {
		t.Errorf("call in progress gives %v", err)
	}
	if _, err := late.Generate(t.Context(), []int32{1}, sampled); !errors.Is(err, errClosed) {
		t.Errorf("later call gives %v", err)
	}
	if _, err := g.Open(); !errors.Is(err, errClosed) {
		t.Errorf("Open gives %v", err)
	}
	if err := g.Publish(2, kernels.Tensors(weights)); !errors.Is(err, errClosed) {
		t.Errorf("Publish gives %v", err)
	}
}

// TestGenerateRefuses: a call that cannot be begun changes nothing.
func TestGenerateRefuses(t *testing.T) {
	cfg := tiny(true)
	g := mustGenerator(t, cfg, randomWeights(t, cfg, 2), Options{})
	s := mustOpen(t, g)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx      context.Context
		prompt   []int32
		sampling kernels.Sampling
	}{
		"nothing to predict from": {t.Context(), nil, sampled},
		"token out of range":      {t.Context(), []int32{1, int32(cfg.VocabSize)}, sampled},
		"negative token":          {t.Context(), []int32{-1}, sampled},
		"bad sampling":            {t.Context(), []int32{1}, kernels.Sampling{Temperature: -1, MaxTokens: 1}},
		"ended context":           {canceled, []int32{1}, sampled},
	} {
		if _, err := s.Generate(c.ctx, c.prompt, c.sampling); err == nil || s.Len() != 0 {
			t.Errorf("%s: error %v, length %d", name, err, s.Len())
		}
	}
	mustGenerate(t, s, []int32{1}, sampled)
	if _, err := NewGenerator(cfg, randomWeights(t, cfg, 2), 1, Options{PrefillTokens: -1}); err == nil {
		t.Error("negative prefill is accepted")
	}
}

// TestBrokenPolicy: logits that are not finite end the call with an error.
func TestBrokenPolicy(t *testing.T) {
	cfg := tiny(true)
	weights := randomWeights(t, cfg, 2)
	for i := range weights {
		weights[i].Data[0] = float32(math.NaN())
	}
	g := mustGenerator(t, cfg, weights, Options{})
	if c, err := mustOpen(t, g).Generate(t.Context(), []int32{0}, sampled); err == nil {
		t.Errorf("sampled %v", c.Tokens)
	}
}
