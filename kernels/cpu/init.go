package cpu

import (
	"math"
	"math/rand/v2"
	"strings"

	"millrace/kernels"
)

// initStd is the standard deviation of fresh matrices, initializer_range of
// Qwen3's published configurations.
const initStd = 0.02

// InitWeights returns the weights of an untrained model: norms 1, matrices
// normal with standard deviation 0.02, those that write into the residual
// stream (o_proj, down_proj) smaller by sqrt(2*layers) as in GPT-2, so that its
// variance does not grow with depth. Equal seeds give equal bits.
func InitWeights(cfg kernels.Config, seed uint64) ([]kernels.Tensor, error) {
	if err := validate(cfg); err != nil {
		return nil, err
	}
	p := newParams(cfg)
	residual := initStd / math.Sqrt(2*float64(cfg.NumHiddenLayers))
	for i, t := range p.tensors {
		// One generator a tensor: a tensor's values do not depend on the
		// shapes of those before it.
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		std := initStd
		if strings.HasSuffix(t.Name, "o_proj.weight") || strings.HasSuffix(t.Name, "down_proj.weight") {
			std = residual
		}
		for j := range t.Data {
			if len(t.Shape) == 1 {
				t.Data[j] = 1
			} else {
				t.Data[j] = float32(random.NormFloat64() * std)
			}
		}
	}
	return p.tensors, nil
}
