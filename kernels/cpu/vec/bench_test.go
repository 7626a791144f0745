package vec

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkVec runs each loop with each variant on rows of 512 elements, in the
// first-level cache.
func BenchmarkVec(b *testing.B) {
	const n = 512
	bands := &bands{r: rand.New(rand.NewPCG(1, 1))}
	x, y, z, w, v := bands.normal(n), bands.normal(n), bands.normal(n), bands.normal(n), bands.normal(n)
	for i := range v {
		v[i] *= v[i]
	}
	step := AdamWStep{1e-9, 0.9, 0.99, 1e-8, 0.1, 1, 10, 100}
	loops := []struct {
		name string
		call func()
	}{
		{"Exp", func() { Exp(z, x) }},
		{"Softmax", func() { Softmax(z, x) }},
		{"LogSumExp", func() { LogSumExp(x) }},
		{"SiLUGate", func() { SiLUGate(z, x, y) }},
		{"SiLUGateBackward", func() { SiLUGateBackward(z, w, x, y, y) }},
		{"RMSNorm", func() { RMSNorm(z, x, y, 1e-6) }},
		{"RMSNormBackward", func() { RMSNormBackward(z, w, y, x, y, 1e-30) }},
		{"Axpy", func() { Axpy(1e-30, x, z) }},
		{"Dot", func() { Dot(x, y) }},
		{"SumSquares", func() { SumSquares(x) }},
		{"AdamW", func() { AdamW(w, x, z, v, step) }},
	}
	before := active
	b.Cleanup(func() { active = before })
	for _, loop := range loops {
		for _, variant := range variants() {
			b.Run(loop.name+"/"+variant.name, func(b *testing.B) {
				active = variant
				for b.Loop() {
					loop.call()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
			})
		}
	}
}
