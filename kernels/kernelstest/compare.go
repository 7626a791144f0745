package kernelstest

import (
	"math"
	"testing"

	"millrace/kernels"
)

// EqualBits fails where two lists of tensors differ in name or in any bit.
func EqualBits(t *testing.T, want, got []kernels.Tensor) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d tensors, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.Name != w.Name || len(g.Data) != len(w.Data) {
			t.Fatalf("tensor %d is %s with %d elements, want %s with %d", i, g.Name, len(g.Data), w.Name, len(w.Data))
		}
		for j := range w.Data {
			if math.Float32bits(g.Data[j]) != math.Float32bits(w.Data[j]) {
				t.Errorf("%s: element %d is %v, want %v", w.Name, j, g.Data[j], w.Data[j])
				break
			}
		}
	}
}

// Near fails where an element of got is further from want than tolerance times the
// largest element of its tensor in want.
func Near(t *testing.T, want, got []kernels.Tensor, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d tensors, want %d", len(got), len(want))
	}
	for i, w := range want {
		NearValues(t, w.Name, got[i].Data, w.Data, tolerance)
	}
}

// NearValues is Near of one tensor's elements.
func NearValues(t *testing.T, name string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s has %d elements, want %d", name, len(got), len(want))
		return
	}
	var largest, worst float64
	for i, w := range want {
		largest = max(largest, math.Abs(float64(w)))
		difference := math.Abs(float64(got[i]) - float64(w))
		if math.IsNaN(difference) {
			difference = math.Inf(1)
		}
		worst = max(worst, difference)
	}
	if worst > tolerance*largest {
		t.Errorf("%s: off by %.3g, the largest element is %.3g", name, worst, largest)
	}
}

func accumulate(t *testing.T, trainer kernels.Trainer, batch []kernels.Sequence, loss kernels.Loss) kernels.Statistics {
	t.Helper()
	stats, err := trainer.Accumulate(t.Context(), batch, loss)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

func stepped(t *testing.T, trainer kernels.Trainer, o kernels.AdamW) kernels.StepResult {
	t.Helper()
	result, err := trainer.Step(o)
	if err != nil {
		t.Fatal(err)
	}
	if result.Skipped || result.NotFinite != nil {
		t.Fatalf("the step is skipped: %+v", result)
	}
	return result
}

func weights(t *testing.T, trainer kernels.Trainer) []kernels.Tensor {
	t.Helper()
	tensors, err := trainer.Weights().Tensors()
	if err != nil {
		t.Fatal(err)
	}
	return tensors
}

func gradients(t *testing.T, trainer Trainer) []kernels.Tensor {
	t.Helper()
	tensors, err := trainer.Gradients()
	if err != nil {
		t.Fatal(err)
	}
	return tensors
}
