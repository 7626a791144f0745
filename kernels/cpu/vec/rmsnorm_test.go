package vec

import (
	"math"
	"testing"
)

const normEps = 1e-6

// rmsnorm64 is RMSNorm in float64.
func rmsnorm64(x, weight []float64) []float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	r := 1 / math.Sqrt(s/float64(len(x))+float64(float32(normEps)))
	y := make([]float64, len(x))
	for i := range x {
		y[i] = x[i] * r * weight[i]
	}
	return y
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func TestRMSNorm(t *testing.T) {
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		x, weight, dst := b.normal(n), b.normal(n), b.normal(n)
		want := rmsnorm64(wide(x), wide(weight))
		RMSNorm(dst, x, weight, normEps)
		for i := range dst {
			near(t, "RMSNorm", i, n, dst[i], want[i], math.Abs(want[i]), 4)
		}
		RMSNorm(x, x, weight, normEps)
		equal(t, "RMSNorm in place", x, dst)
	})
}

// TestRMSNormBackward compares with the derivative in float64: central
// differences along one direction would hide errors that cancel, so each element
// is moved by itself, for the shorter rows.
func TestRMSNormBackward(t *testing.T) {
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		x, weight, d := b.normal(n), b.normal(n), b.normal(n)
		dx, dWeight := b.normal(n), b.normal(n)
		before := clone(dWeight)
		r := RMSNorm(clone(x), x, weight, normEps)
		RMSNormBackward(dx, dWeight, d, x, weight, r)
		loss := func(x, weight []float64) (s float64) {
			for i, y := range rmsnorm64(x, weight) {
				s += y * float64(d[i])
			}
			return s
		}
		x64, w64 := wide(x), wide(weight)
		var g float64 // the sum that all elements of dx share, in absolute terms
		for i := range d {
			g += math.Abs(float64(d[i]) * w64[i] * x64[i])
		}
		for i := 0; i < n && n <= 200; i++ {
			const h = 1e-5
			slope := func(v []float64) float64 {
				old := v[i]
				v[i] = old + h
				up := loss(x64, w64)
				v[i] = old - h
				down := loss(x64, w64)
				v[i] = old
				return (up - down) / (2 * h)
			}
			r := float64(r)
			size := r * (math.Abs(float64(d[i])*w64[i]) + math.Abs(x64[i])*r*r*g/float64(n))
			near(t, "dx", i, n, dx[i], slope(x64), size, float64(n/64+16))
			want := float64(before[i]) + slope(w64)
			near(t, "dWeight", i, n, dWeight[i], want, math.Abs(float64(before[i]))+math.Abs(slope(w64)), 5)
		}
		RMSNormBackward(d, dWeight, d, x, weight, r)
		equal(t, "dx in place of d", d, dx)
	})
}
