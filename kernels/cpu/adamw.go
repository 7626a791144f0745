package cpu

import (
	"math"

	"millrace/kernels"
	"millrace/kernels/cpu/gemm/workers"
	"millrace/kernels/cpu/vec"
)

// optimizerChunk is the number of elements one task of the optimizer takes, and
// of which one partial sum of squares is kept.
const optimizerChunk = 16384

// clipEpsilon keeps the clip factor finite, as torch's clip_grad_norm_ does.
const clipEpsilon = 1e-6

// norm is the global L2 norm of x: float64 partial sums over chunks, added in
// order.
func norm(x []float32) float64 {
	n := (len(x) + optimizerChunk - 1) / optimizerChunk
	partial := make([]float64, n)
	workers.Run(n, func(_, i int) {
		partial[i] = vec.SumSquares(x[i*optimizerChunk : min(len(x), (i+1)*optimizerChunk)])
	})
	var s float64
	for _, v := range partial {
		s += v
	}
	return math.Sqrt(s)
}

// adamW applies the step-th update, counted from 1, with gradients g of norm
// gradNorm and moments m and v.
func adamW(w, g, m, v *params, step int64, o kernels.AdamW, gradNorm float64) {
	s := vec.AdamWStep{
		LearningRate: float32(o.LearningRate),
		Beta1:        float32(o.Beta1),
		Beta2:        float32(o.Beta2),
		Epsilon:      float32(o.Epsilon),
		GradScale:    1,
		Correction1:  float32(1 / (1 - math.Pow(o.Beta1, float64(step)))),
		Correction2:  float32(1 / (1 - math.Pow(o.Beta2, float64(step)))),
	}
	if o.ClipNorm > 0 {
		s.GradScale = float32(min(1, o.ClipNorm/(gradNorm+clipEpsilon)))
	}
	for i := range w.tensors {
		s := s
		if w.decayed[i] {
			s.WeightDecay = float32(o.WeightDecay)
		}
		wd, gd, md, vd := w.tensors[i].Data, g.tensors[i].Data, m.tensors[i].Data, v.tensors[i].Data
		n := len(wd)
		workers.Run((n+optimizerChunk-1)/optimizerChunk, func(_, j int) {
			from, to := j*optimizerChunk, min(n, (j+1)*optimizerChunk)
			vec.AdamW(wd[from:to], gd[from:to], md[from:to], vd[from:to], s)
		})
	}
}
