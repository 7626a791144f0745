package vec

import (
	"math"
	"testing"
)

func sigmoid64(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Roundings of SiLUGate: 4 of exp (expError), the sum, the quotient, two
// products; of its gradient two more sums.
const siluRoundings = 12

func TestSiLUGate(t *testing.T) {
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		gate := b.row(n, func() float32 { return float32(8 * b.r.NormFloat64()) })
		up, dst := b.normal(n), b.normal(n)
		SiLUGate(dst, gate, up)
		for i := range dst {
			g, u := float64(gate[i]), float64(up[i])
			want := g * sigmoid64(g) * u
			near(t, "SiLUGate", i, n, dst[i], want, math.Abs(want), siluRoundings)
		}
		SiLUGate(gate, gate, up)
		equal(t, "SiLUGate in place", gate, dst)
	})
}

// TestSiLUGateBackward compares with central differences in float64 of the
// formula of SiLUGate, step 1e-5: their own error is about 1e-10.
func TestSiLUGateBackward(t *testing.T) {
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		gate := b.row(n, func() float32 { return float32(4 * b.r.NormFloat64()) })
		up, d, dGate, dUp := b.normal(n), b.normal(n), b.normal(n), b.normal(n)
		SiLUGateBackward(dGate, dUp, gate, up, d)
		for i := range d {
			g, u, di := float64(gate[i]), float64(up[i]), float64(d[i])
			f := func(g float64) float64 { return g * sigmoid64(g) }
			slope := (f(g+1e-5) - f(g-1e-5)) / 2e-5
			near(t, "dUp", i, n, dUp[i], di*f(g), math.Abs(di*f(g)), siluRoundings)
			// In s + gate*s*(1-s) the error of s stays whole in 1-s, however small
			// that is. 1e-3 roundings are the differences' own error.
			size := math.Abs(di*u) * (sigmoid64(g) + math.Abs(f(g)))
			near(t, "dGate", i, n, dGate[i], di*u*slope, size+1e-3, siluRoundings)
		}
	})
}
