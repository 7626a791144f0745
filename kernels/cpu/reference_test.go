package cpu

import (
	"testing"

	"millrace/kernels/kernelstest"
)

// TestLogitsAgainstTransformers holds logits to an independent implementation; what comes
// of them, the contract does.
//
// Tolerances, here and in the contract, are relative to the largest element of a tensor.
// Both sides round to float32, 6e-8 a step; the longest chains, a gradient through two
// layers and a sum over 70 tokens, have some hundred roundings, hence 1e-5. Adam divides a
// gradient by its own size, so an element much smaller than its tensor's largest hands its
// relative error on, times the learning rate of 0.01: hence 1e-4 after the steps.
func TestLogitsAgainstTransformers(t *testing.T) {
	for _, name := range []string{"tied", "untied"} {
		t.Run(name, func(t *testing.T) {
			ref := kernelstest.Load(t, "testdata", name)
			trainer, err := newTrainer(ref.Config, ref.Tensors())
			if err != nil {
				t.Fatal(err)
			}
			p, err := newPack(&trainer.model.shape, ref.Batch())
			if err != nil {
				t.Fatal(err)
			}
			if err := trainer.model.forward(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			for i, want := range ref.Logits {
				var rows []target
				for row := p.start[i]; row < p.start[i+1]; row++ {
					rows = append(rows, target{row: row})
				}
				trainer.head.project(trainer.model, rows, 1)
				kernelstest.NearValues(t, "logits", trainer.head.logits, want, 1e-5)
			}
		})
	}
}
