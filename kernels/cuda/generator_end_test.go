package cuda

import (
	"testing"

	"millrace/kernels"
	"millrace/kernels/kernelstest"
)

// TestGeneration: beside the contract, a canceled call gives its pages back.
func TestGeneration(t *testing.T) {
	d := open(t)
	kernelstest.Generation(t, kernelstest.Generators{
		New: func(t *testing.T, cfg kernels.Config, weights kernels.Tensors, prefill int) kernels.MeteredGenerator {
			g, err := d.NewGenerator(cfg, weights, 1, GeneratorOptions{PrefillTokens: prefill, Sequences: 2, CacheBytes: 1 << 24})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { g.Close() })
			return g
		},
		Reference: reference, Endless: 1 << 16,
		Idle: func(t *testing.T, g kernels.MeteredGenerator) {
			if stats := g.(*Generator).CacheStats(); stats.Available != stats.Pages {
				t.Errorf("%+v after the only call was canceled", stats)
			}
		},
	})
}

// TestNewGeneratorRefuses: options and weights that cannot be are told at once.
func TestNewGeneratorRefuses(t *testing.T) {
	d := open(t)
	if _, err := d.NewGenerator(model, initialWeights(t, 3), 1, GeneratorOptions{Sequences: -1}); err == nil {
		t.Error("a negative number of sequences is accepted")
	}
	if _, err := d.NewGenerator(model, initialWeights(t, 3)[1:], 1, GeneratorOptions{}); err == nil {
		t.Error("a missing tensor is accepted")
	}
}
