package cpu

import (
	"slices"
	"testing"

	"millrace/kernels"
	"millrace/kernels/kernelstest"
)

// Gradients lets the contract look at the gradients.
func (t *trainer) Gradients() ([]kernels.Tensor, error) { return slices.Clone(t.grads.tensors), nil }

// TestContract: tolerances as in TestLogitsAgainstTransformers.
func TestContract(t *testing.T) {
	kernelstest.Contract(t, kernelstest.Backend{
		New: func(t *testing.T, cfg kernels.Config, weights []kernels.Tensor) kernelstest.Trainer {
			return mustTrainer(t, cfg, weights)
		},
		Reference: "testdata", Tolerance: 1e-5, Stepped: 1e-4,
	})
}
