package cpu

import (
	"testing"

	"millrace/kernels"
	"millrace/kernels/kernelstest"
)

func TestGeneration(t *testing.T) {
	kernelstest.Generation(t, kernelstest.Generators{
		New: func(t *testing.T, cfg kernels.Config, weights kernels.Tensors, prefill int) kernels.MeteredGenerator {
			return mustGenerator(t, cfg, weights, Options{PrefillTokens: prefill})
		},
		Reference: "testdata", Endless: 1 << 20,
	})
}

// TestNewGeneratorRefuses: options that cannot be are told at once.
func TestNewGeneratorRefuses(t *testing.T) {
	cfg := tiny(true)
	if _, err := NewGenerator(cfg, randomWeights(t, cfg, 2), 1, Options{PrefillTokens: -1}); err == nil {
		t.Error("negative prefill is accepted")
	}
}
