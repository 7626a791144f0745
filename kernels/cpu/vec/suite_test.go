package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// sizes are 0 to 70 and the edges of some longer rows.
var sizes = func() []int {
	var s []int
	for n := range 71 {
		s = append(s, n)
	}
	return append(s, 95, 96, 127, 128, 129, 191, 192, 193, 383, 512, 2000)
}()

// forEachVariant runs f with each variant that this processor has and each size.
func forEachVariant(t *testing.T, f func(t *testing.T, b *bands, n int)) {
	t.Helper()
	before := active
	t.Cleanup(func() { active = before })
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			active = v
			for _, n := range sizes {
				b := &bands{r: rand.New(rand.NewPCG(uint64(n), 3))}
				f(t, b, n)
				b.check(t, n)
			}
		})
	}
}

// bands hands out rows between guards of NaN.
type bands struct {
	r    *rand.Rand
	rows [][]float32
}

const guard = 33

// row is a row of n elements drawn from f.
func (b *bands) row(n int, f func() float32) []float32 {
	whole := make([]float32, guard+n+guard)
	for i := range whole {
		whole[i] = float32(math.NaN())
		if guard <= i && i < guard+n {
			whole[i] = f()
		}
	}
	b.rows = append(b.rows, whole)
	return whole[guard : guard+n : guard+n]
}

// normal is a row of n standard normal numbers.
func (b *bands) normal(n int) []float32 {
	return b.row(n, func() float32 { return float32(b.r.NormFloat64()) })
}

// check fails when a guard was written to.
func (b *bands) check(t *testing.T, n int) {
	t.Helper()
	for k, whole := range b.rows {
		for i, v := range whole {
			if (i < guard || i >= len(whole)-guard) && v == v {
				t.Fatalf("n = %d: row %d: element %d outside the row was written", n, k, i-guard)
			}
		}
	}
}

// epsilon is the largest relative error of one rounding to float32.
const epsilon = 0x1p-24

// near fails unless got differs from want by at most roundings*epsilon*size.
func near(t *testing.T, what string, i, n int, got float32, want, size, roundings float64) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= roundings*epsilon*size+0x1p-149) {
		t.Fatalf("%s, n = %d, element %d: %v, want %v within %g roundings of %g", what, n, i, got, want, roundings, size)
	}
}

func clone(x []float32) []float32 { return append([]float32(nil), x...) }

// equal fails unless two rows have the same bits.
func equal(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s, n = %d, element %d: %v, want %v", what, len(want), i, got[i], want[i])
		}
	}
}

// TestAssemblyAgrees checks that AVX-512 and AVX2 give the same bits.
func TestAssemblyAgrees(t *testing.T) {
	vs := variants()
	if len(vs) < 3 {
		t.Skip("this processor has fewer than two assembly variants")
	}
	before := active
	t.Cleanup(func() { active = before })
	for _, n := range sizes {
		var got [2][]float32
		for k := range got {
			active = vs[k]
			b := &bands{r: rand.New(rand.NewPCG(uint64(n), 4))}
			x, y, z, w := b.normal(n), b.normal(n), b.normal(n), b.normal(n)
			u := b.row(n, func() float32 { return b.r.Float32() })
			out := append([]float32{Dot(x, y), float32(SumSquares(x))}, Softmax(z, y), LogSumExp(x))
			RMSNormBackward(w, x, y, z, w, RMSNorm(y, z, w, 1e-6))
			SiLUGate(z, x, y)
			AdamW(w, x, y, u, AdamWStep{1e-3, 0.9, 0.99, 1e-8, 0.1, 0.5, 10, 100})
			got[k] = append(append(append(append(append(out, x...), y...), z...), w...), u...)
		}
		equal(t, fmt.Sprintf("%s and %s", vs[0].name, vs[1].name), got[0], got[1])
	}
}
