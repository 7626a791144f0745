package vec

import (
	"math"
	"testing"
)

// expError is the relative error that Exp promises.
const expError = 2.5e-7

// TestExp covers the whole range with all sizes, in place and not.
func TestExp(t *testing.T) {
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		x := b.row(n, func() float32 { return float32(b.r.Float64()*220 - 115) })
		dst := b.normal(n)
		Exp(dst, x)
		for i, v := range x {
			checkExp(t, v, dst[i])
		}
		Exp(x, x)
		equal(t, "Exp in place", x, dst)
	})
}

func checkExp(t *testing.T, x, got float32) {
	t.Helper()
	want := math.Exp(float64(x))
	switch {
	case want > math.MaxFloat32*(1+expError):
		if !math.IsInf(float64(got), 1) {
			t.Fatalf("Exp(%v) = %v, want +Inf", x, got)
		}
	case math.IsInf(float64(got), 1) && want >= math.MaxFloat32*(1-expError):
	case !(math.Abs(float64(got)-want) <= expError*want+0x1p-149):
		t.Fatalf("Exp(%v) = %v, want %v", x, got, want)
	}
}

// TestExpDense walks every 97th float32 between the two limits.
func TestExpDense(t *testing.T) {
	before := active
	t.Cleanup(func() { active = before })
	for _, v := range variants() {
		active = v
		x := make([]float32, 4096)
		dst := make([]float32, len(x))
		fill := 0
		for bits := uint32(0); bits < math.Float32bits(105); bits += 97 * 31 {
			for _, sign := range []uint32{0, 1 << 31} {
				x[fill] = math.Float32frombits(bits | sign)
				fill++
			}
			if fill == len(x) {
				Exp(dst, x)
				for i := range x {
					checkExp(t, x[i], dst[i])
				}
				fill = 0
			}
		}
	}
}

func TestExpSpecial(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		values := []float32{0, float32(math.Copysign(0, -1)), inf, -inf, nan, math.MaxFloat32, -math.MaxFloat32, 1e-40}
		want := []float32{1, 1, inf, 0, nan, inf, 0, 1}
		x := b.normal(n)
		for i := range x {
			x[i] = values[i%len(values)]
		}
		Exp(x, x)
		for i, got := range x {
			if w := want[i%len(want)]; got != w && (got == got || w == w) {
				t.Fatalf("Exp(%v) = %v, want %v", values[i%len(values)], got, w)
			}
		}
	})
}

func TestSoftmax(t *testing.T) {
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		x := b.row(n, func() float32 { return float32(20 * b.r.NormFloat64()) })
		if n > 2 {
			x[n/2] = negativeInfinity
		}
		dst := b.normal(n)
		lse := Softmax(dst, x)
		if got := LogSumExp(x); got != lse {
			t.Fatalf("LogSumExp, n = %d: %v, Softmax returned %v", n, got, lse)
		}
		if n == 0 {
			if lse != negativeInfinity {
				t.Fatalf("of nothing: %v, want -Inf", lse)
			}
			return
		}
		var m, s float64 = math.Inf(-1), 0
		for _, v := range x {
			m = max(m, float64(v))
		}
		for _, v := range x {
			s += math.Exp(float64(v) - m)
		}
		want := m + math.Log(s)
		// The sum has the error of exp and of the summation, the logarithm turns
		// that into an absolute one; then two roundings.
		near(t, "Softmax, logarithm", 0, n, lse, want, 1+math.Abs(want), 5+float64(n/64+8))
		for i, v := range x {
			if math.IsInf(float64(v), -1) {
				if dst[i] != 0 {
					t.Fatalf("Softmax of -Inf: %v", dst[i])
				}
				continue
			}
			// x-m is rounded: an absolute error in the exponent of up to |x-m|*epsilon.
			p := math.Exp(float64(v)-m) / s
			near(t, "Softmax", i, n, dst[i], p, p, 16+float64(n/64)+math.Abs(float64(v)-m)*2)
		}
		Softmax(x, x)
		equal(t, "Softmax in place", x, dst)
	})
}

func TestSoftmaxOfNothingPossible(t *testing.T) {
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		x := b.row(n, func() float32 { return negativeInfinity })
		if lse := Softmax(x, x); lse != negativeInfinity {
			t.Fatalf("n = %d: %v, want -Inf", n, lse)
		}
		equal(t, "Softmax of -Inf", x, make([]float32, n))
	})
}

// TestSoftmaxSpreadsNaN checks that one NaN, wherever it is, shows.
func TestSoftmaxSpreadsNaN(t *testing.T) {
	forEachVariant(t, func(t *testing.T, b *bands, n int) {
		for i := 0; i < n; i += 7 {
			x := b.normal(n)
			x[i] = float32(math.NaN())
			if lse := LogSumExp(x); lse == lse {
				t.Fatalf("n = %d, NaN at %d: %v", n, i, lse)
			}
		}
	})
}
