package vec

import (
	"math"
	"testing"
)

func TestAxpy(t *testing.T) {
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		x, y := b.normal(n), b.normal(n)
		xs, ys := clone(x), clone(y)
		Axpy(0.7, x, y)
		for i := range y {
			p := float64(float32(0.7)) * float64(xs[i])
			near(t, "Axpy", i, n, y[i], float64(ys[i])+p, math.Abs(float64(ys[i]))+math.Abs(p), 2)
		}
		equal(t, "Axpy leaves x", x, xs)
	})
}

func TestScaleAndAdd(t *testing.T) {
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		x, y, dst := b.normal(n), b.normal(n), b.normal(n)
		want, scaled := make([]float32, n), make([]float32, n)
		for i := range x {
			want[i] = x[i] + y[i]
			scaled[i] = x[i] * 0.3
		}
		Add(dst, x, y)
		equal(t, "Add", dst, want)
		Scale(0.3, x)
		equal(t, "Scale", x, scaled)
	})
}

// On the way of a term are its product, at most n/64+1 sums in its lane and 6 of
// the lanes.
func TestDot(t *testing.T) {
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		x, y := b.normal(n), b.normal(n)
		var want, size float64
		for i := range x {
			p := float64(x[i]) * float64(y[i])
			want += p
			size += math.Abs(p)
		}
		near(t, "Dot", 0, n, Dot(x, y), want, size, float64(n/64+8))
	})
}

// A float64 sum of exact squares agrees with any other order of summation to a
// few float64 roundings.
func TestSumSquares(t *testing.T) {
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		x := b.normal(n)
		var want float64
		for _, v := range x {
			want += float64(v) * float64(v)
		}
		if got := SumSquares(x); math.Abs(got-want) > float64(n)*0x1p-52*want {
			t.Fatalf("SumSquares, n = %d: %v, want %v", n, got, want)
		}
	})
}
