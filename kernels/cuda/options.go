package cuda

import "fmt"

// Precision is the format of weights and activations on the device. Sums, gradients
// of weights, moments and logits are float32 in both.
type Precision int32

// The precisions. FP32 uses no reduced products (no TF32): it is for comparison.
const (
	FP32 Precision = 0
	BF16 Precision = 1
)

// Recompute is what the backward pass computes again instead of keeping it. It costs
// time and saves memory; results are the same to the bit.
type Recompute int32

// The choices. Automatic takes for each micro-batch the first of the others that
// fits into free memory.
const (
	Automatic Recompute = 0
	None      Recompute = 1
	// Cheap computes norms, rotation and SwiGLU again, and no matrix product.
	Cheap Recompute = 2
	// Block computes each layer again from its input.
	Block Recompute = 3
)

var (
	precisions = []string{"fp32", "bf16"}
	recomputes = []string{"auto", "none", "cheap", "block"}
)

func (p Precision) String() string { return precisions[p] }

func (r Recompute) String() string { return recomputes[r] }

// ParsePrecision reads fp32 or bf16.
func ParsePrecision(name string) (Precision, error) {
	for i, n := range precisions {
		if n == name {
			return Precision(i), nil
		}
	}
	return 0, fmt.Errorf("precision is %q: want fp32 or bf16", name)
}

// ParseRecompute reads auto, none, cheap or block.
func ParseRecompute(name string) (Recompute, error) {
	for i, n := range recomputes {
		if n == name {
			return Recompute(i), nil
		}
	}
	return 0, fmt.Errorf("recompute is %q: want auto, none, cheap or block", name)
}

// Options are the settings of a trainer. The zero value is float32, and memory as it
// is there.
type Options struct {
	Precision Precision
	Recompute Recompute
}
