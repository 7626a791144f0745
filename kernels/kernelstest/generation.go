package kernelstest

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"millrace/kernels"
)

// Generators is what runs the contract of generators.
type Generators struct {
	// New returns a generator of weights under version 1, which the test's end closes. It
	// reads at most prefill tokens of a prompt at a time; 0 is its default.
	New func(t *testing.T, cfg kernels.Config, weights kernels.Tensors, prefill int) kernels.MeteredGenerator
	// Reference is the folder of reference-tied.json, whose model is sampled from.
	Reference string
	// Endless is a context that no call fills while a test looks.
	Endless int
	// Idle checks what a generator still holds when no call is in progress; it may be nil.
	Idle func(t *testing.T, g kernels.MeteredGenerator)
}

// Generation runs every test on the backend's generators.
func Generation(t *testing.T, b Generators) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, b Generators)
	}{
		{"the context's end", fills},
		{"a call ends with its context", cancels},
		{"closing ends calls", closes},
		{"a call that cannot be begun changes nothing", admits},
		{"logits that are not finite end the call", breaks},
		{"tokens and passes are counted", counts},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, b) })
	}
}

var sampled = kernels.Sampling{Temperature: 0.8, MaxTokens: 40, Seed: 7}

// generator is of the reference's model, reaching so many positions.
func (b Generators) generator(t *testing.T, positions, prefill int) (kernels.MeteredGenerator, kernels.Config) {
	t.Helper()
	r := Load(t, b.Reference, "tied")
	r.Config.MaxPositionEmbeddings = positions
	return b.New(t, r.Config, r.Tensors(), prefill), r.Config
}

// Open opens a session until the test ends.
func Open(t testing.TB, g kernels.Generator) kernels.Session {
	t.Helper()
	s, err := g.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Generate is a call that must succeed.
func Generate(t testing.TB, s kernels.Session, prompt []int32, sampling kernels.Sampling) kernels.Completion {
	t.Helper()
	c, err := s.Generate(t.Context(), prompt, sampling)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// WaitForToken returns when the generator has sampled something.
func WaitForToken(g kernels.MeteredGenerator) {
	for g.Stats().Generated == 0 {
		time.Sleep(100 * time.Microsecond)
	}
}

// fills: a completion that runs into the context's end is returned with the error, a
// prompt that does not fit is refused.
func fills(t *testing.T, b Generators) {
	g, _ := b.generator(t, 70, 0)
	s := Open(t, g)
	c, err := s.Generate(t.Context(), make([]int32, 60), kernels.Sampling{Temperature: 1, MaxTokens: 1000})
	if !errors.Is(err, kernels.ErrContextFull) || len(c.Tokens) != 10 || s.Len() != 70 {
		t.Errorf("%d tokens, length %d, %v", len(c.Tokens), s.Len(), err)
	}
	if _, err := s.Generate(t.Context(), nil, sampled); !errors.Is(err, kernels.ErrContextFull) {
		t.Errorf("a full session gives %v", err)
	}
	s = Open(t, g)
	if _, err := s.Generate(t.Context(), make([]int32, 70), sampled); !errors.Is(err, kernels.ErrContextFull) || s.Len() != 0 {
		t.Errorf("prompt of 70 gives %v, length %d", err, s.Len())
	}
	exact := sampled
	exact.MaxTokens = 1
	if c := Generate(t, s, make([]int32, 69), exact); len(c.Tokens) != 1 || s.Len() != 70 {
		t.Errorf("the last place is not used: length %d", s.Len())
	}
}

// cancels: a call ends with its context's error, its session is spoilt, others go on, and
// their calls see nothing of it.
func cancels(t *testing.T, b Generators) {
	g, _ := b.generator(t, b.Endless, 0)
	s := Open(t, g)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := s.Generate(ctx, []int32{1}, kernels.Sampling{Temperature: 1, MaxTokens: b.Endless / 2})
		done <- err
	}()
	WaitForToken(g)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("canceled call gives %v", err)
	}
	if b.Idle != nil {
		b.Idle(t, g)
	}
	if _, err := s.Generate(t.Context(), []int32{1}, sampled); err == nil {
		t.Error("a spoilt session takes a call")
	}
	Generate(t, Open(t, g), []int32{1}, sampled)
}

// closes: calls in progress end with an error, later ones are refused.
func closes(t *testing.T, b Generators) {
	g, _ := b.generator(t, b.Endless, 0)
	s, late := Open(t, g), Open(t, g)
	done := make(chan error)
	go func() {
		_, err := s.Generate(t.Context(), []int32{1}, kernels.Sampling{Temperature: 1, MaxTokens: b.Endless / 2})
		done <- err
	}()
	WaitForToken(g)
	for range 2 {
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; !errors.Is(err, kernels.ErrClosed) {
		t.Errorf("call in progress gives %v", err)
	}
	if _, err := late.Generate(t.Context(), []int32{1}, sampled); !errors.Is(err, kernels.ErrClosed) {
		t.Errorf("later call gives %v", err)
	}
	if _, err := g.Open(); !errors.Is(err, kernels.ErrClosed) {
		t.Errorf("Open gives %v", err)
	}
	if err := g.Publish(2, kernels.Tensors(Load(t, b.Reference, "tied").Tensors())); !errors.Is(err, kernels.ErrClosed) {
		t.Errorf("Publish gives %v", err)
	}
}

func admits(t *testing.T, b Generators) {
	g, cfg := b.generator(t, 100, 0)
	s := Open(t, g)
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
	Generate(t, s, []int32{1}, sampled)
}

func breaks(t *testing.T, b Generators) {
	r := Load(t, b.Reference, "tied")
	weights := r.Tensors()
	for _, w := range weights {
		w.Data[0] = float32(math.NaN())
	}
	g := b.New(t, r.Config, weights, 0)
	if c, err := Open(t, g).Generate(t.Context(), []int32{0}, sampled); err == nil {
		t.Errorf("sampled %v", c.Tokens)
	}
}

func counts(t *testing.T, b Generators) {
	g, _ := b.generator(t, 100, 4)
	if g.Stats() != (kernels.GeneratorStats{}) {
		t.Errorf("a new generator has done %+v", g.Stats())
	}
	Generate(t, Open(t, g), make([]int32, 10), kernels.Sampling{Temperature: 1, MaxTokens: 5})
	g.Close()
	got := g.Stats()
	// 10 prompt tokens by 4 are 3 ticks, the last of which samples the first of 5 tokens.
	if got.Generated != 5 || got.Prefilled != 10 || got.Ticks != 7 || got.Active != 0 || got.Busy <= 0 {
		t.Errorf("%+v", got)
	}
}
