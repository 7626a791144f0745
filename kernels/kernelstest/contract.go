package kernelstest

import (
	"testing"

	"millrace/kernels"
)

// Trainer is a kernels.Trainer whose gradients can be looked at.
type Trainer interface {
	kernels.Trainer
	// Gradients are those accumulated since the last step, in the order of the weights.
	Gradients() ([]kernels.Tensor, error)
}

// Backend is what runs the contract.
type Backend struct {
	// New returns a trainer, which the test's end closes.
	New func(t *testing.T, cfg kernels.Config, weights []kernels.Tensor) Trainer
	// Reference is the folder of reference-tied.json and reference-untied.json.
	Reference string
	// Tolerances are relative to the largest element of a tensor: of log-probabilities,
	// losses and gradients; and of weights after some steps. Adam divides a gradient by
	// its own size, so an element much smaller than its tensor's largest hands its relative
	// error on, times the learning rate.
	Tolerance, Stepped float64
}

// Contract runs every test on the backend.
func Contract(t *testing.T, b Backend) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, b Backend)
	}{
		{"agrees with transformers", agrees},
		{"equal runs give equal bits", repeats},
		{"a masked token's values change nothing", masked},
		{"state resumes to the bit", resumes},
		{"restore refuses what does not fit", refuses},
		{"a gradient that is not finite is skipped and named", skips},
		{"bad input is named", names},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, b) })
	}
}
