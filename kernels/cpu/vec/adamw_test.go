package vec

import (
	"math"
	"testing"
)

func TestAdamW(t *testing.T) {
	s := AdamWStep{LearningRate: 1e-3, Beta1: 0.9, Beta2: 0.95, Epsilon: 1e-8, WeightDecay: 0.1,
		GradScale: 0.5, Correction1: 1 / (1 - 0.9*0.9*0.9), Correction2: 1 / (1 - 0.95*0.95*0.95)}
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		w, g, m := b.normal(n), b.normal(n), b.normal(n)
		v := b.row(n, func() float32 { return b.r.Float32() })
		w0, g0, m0, v0 := wide(w), wide(g), wide(m), wide(v)
		AdamW(w, g, m, v, s)
		beta1, beta2 := float64(s.Beta1), float64(s.Beta2)
		for i := range w {
			h := g0[i] * float64(s.GradScale)
			wantM := beta1*m0[i] + (1-beta1)*h
			wantV := beta2*v0[i] + (1-beta2)*h*h
			sizeM := math.Abs(beta1*m0[i]) + math.Abs((1-beta1)*h)
			near(t, "m", i, n, m[i], wantM, sizeM, 5)
			near(t, "v", i, n, v[i], wantV, wantV, 7)
			root := math.Sqrt(wantV*float64(s.Correction2)) + float64(s.Epsilon)
			step := float64(s.LearningRate) * (wantM*float64(s.Correction1)/root + float64(s.WeightDecay)*w0[i])
			sizeStep := float64(s.LearningRate) * (sizeM*float64(s.Correction1)/root + float64(s.WeightDecay)*math.Abs(w0[i]))
			near(t, "w", i, n, w[i], w0[i]-step, math.Abs(w0[i])+16*sizeStep, 1.01)
		}
		for i := range g {
			if float64(g[i]) != g0[i] {
				t.Fatalf("AdamW wrote gradient %d", i)
			}
		}
	})
}
