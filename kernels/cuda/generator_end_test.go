package cuda

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"millrace/kernels"
)

// waitForToken returns when the generator has sampled something.
func waitForToken(g *Generator) {
	for g.Stats().Generated == 0 {
		time.Sleep(100 * time.Microsecond)
	}
}

// endless is a call that does not end by itself while a test looks.
func endless(t *testing.T, d *Device) (*Generator, *session) {
	t.Helper()
	long := model
	long.MaxPositionEmbeddings = 1 << 16
	g, err := d.NewGenerator(long, initialWeights(t, 3), 1, GeneratorOptions{Sequences: 2, CacheBytes: 1 << 24})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g, newSession(t, g)
}

// TestContext: a completion that runs into the context's end is returned with the error, a
// prompt that does not fit is refused.
func TestContext(t *testing.T) {
	d := open(t)
	g := newGenerator(t, d, initialWeights(t, 3), GeneratorOptions{})
	s := newSession(t, g)
	c, err := s.Generate(t.Context(), make([]int32, 90), kernels.Sampling{Temperature: 1, MaxTokens: 1000})
	if !errors.Is(err, kernels.ErrContextFull) || len(c.Tokens) != 10 || s.Len() != 100 {
		t.Errorf("%d tokens, length %d, %v", len(c.Tokens), s.Len(), err)
	}
	if _, err := s.Generate(t.Context(), nil, turn); !errors.Is(err, kernels.ErrContextFull) {
		t.Errorf("a full session gives %v", err)
	}
	s = newSession(t, g)
	if _, err := s.Generate(t.Context(), make([]int32, 100), turn); !errors.Is(err, kernels.ErrContextFull) || s.Len() != 0 {
		t.Errorf("prompt of 100 gives %v, length %d", err, s.Len())
	}
	exact := turn
	exact.MaxTokens = 1
	if c := generate(t, s, make([]int32, 99), exact); len(c.Tokens) != 1 || s.Len() != 100 {
		t.Errorf("the last place is not used: length %d", s.Len())
	}
}

// TestCancel: a call ends with its context's error and gives its pages back, its session is
// spoilt, others go on.
func TestCancel(t *testing.T) {
	g, s := endless(t, open(t))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := s.Generate(ctx, []int32{1}, kernels.Sampling{Temperature: 1, MaxTokens: 1 << 15})
		done <- err
	}()
	waitForToken(g)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("canceled call gives %v", err)
	}
	if stats := g.CacheStats(); stats.Available != stats.Pages {
		t.Errorf("%+v after the only call was canceled", stats)
	}
	if _, err := s.Generate(t.Context(), []int32{1}, turn); err == nil {
		t.Error("a spoilt session takes a call")
	}
	generate(t, newSession(t, g), []int32{1}, turn)
}

// TestClose: calls in progress end with an error, later ones are refused.
func TestClose(t *testing.T) {
	d := open(t)
	g, s := endless(t, d)
	late := newSession(t, g)
	done := make(chan error)
	go func() {
		_, err := s.Generate(t.Context(), []int32{1}, kernels.Sampling{Temperature: 1, MaxTokens: 1 << 15})
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
	if _, err := late.Generate(t.Context(), []int32{1}, turn); !errors.Is(err, errClosed) {
		t.Errorf("later call gives %v", err)
	}
	if _, err := g.Open(); !errors.Is(err, errClosed) {
		t.Errorf("Open gives %v", err)
	}
	if err := g.Publish(2, initialWeights(t, 3)); !errors.Is(err, errClosed) {
		t.Errorf("Publish gives %v", err)
	}
}

// TestGenerateRefuses: a call that cannot be begun changes nothing.
func TestGenerateRefuses(t *testing.T) {
	d := open(t)
	g := newGenerator(t, d, initialWeights(t, 3), GeneratorOptions{})
	s := newSession(t, g)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx      context.Context
		prompt   []int32
		sampling kernels.Sampling
	}{
		"nothing to predict from": {t.Context(), nil, turn},
		"token out of range":      {t.Context(), []int32{1, int32(model.VocabSize)}, turn},
		"negative token":          {t.Context(), []int32{-1}, turn},
		"bad sampling":            {t.Context(), []int32{1}, kernels.Sampling{Temperature: -1, MaxTokens: 1}},
		"ended context":           {canceled, []int32{1}, turn},
	} {
		if _, err := s.Generate(c.ctx, c.prompt, c.sampling); err == nil || s.Len() != 0 {
			t.Errorf("%s: error %v, length %d", name, err, s.Len())
		}
	}
	generate(t, s, []int32{1}, turn)
	if _, err := d.NewGenerator(model, initialWeights(t, 3), 1, GeneratorOptions{Sequences: -1}); err == nil {
		t.Error("a negative number of sequences is accepted")
	}
	if _, err := d.NewGenerator(model, initialWeights(t, 3)[1:], 1, GeneratorOptions{}); err == nil {
		t.Error("a missing tensor is accepted")
	}
}

// TestBrokenPolicy: logits that are not finite end the call with an error.
func TestBrokenPolicy(t *testing.T) {
	weights := initialWeights(t, 3)
	for _, w := range weights {
		w.Data[0] = float32(math.NaN())
	}
	g := newGenerator(t, open(t), weights, GeneratorOptions{})
	if c, err := newSession(t, g).Generate(t.Context(), []int32{0}, turn); err == nil {
		t.Errorf("sampled %v", c.Tokens)
	}
}

// TestStats: tokens and passes are counted.
func TestStats(t *testing.T) {
	g := newGenerator(t, open(t), initialWeights(t, 3), GeneratorOptions{PrefillTokens: 4})
	if g.Stats() != (kernels.GeneratorStats{}) {
		t.Errorf("a new generator has done %+v", g.Stats())
	}
	s := newSession(t, g)
	generate(t, s, make([]int32, 10), kernels.Sampling{Temperature: 1, MaxTokens: 5})
	g.Close()
	got := g.Stats()
	// 10 prompt tokens by 4 are 3 ticks, the last of which samples the first of 5 tokens.
	if got.Generated != 5 || got.Prefilled != 10 || got.Ticks != 7 || got.Active != 0 || got.Busy <= 0 {
		t.Errorf("%+v", got)
	}
}
