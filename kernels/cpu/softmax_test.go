package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	xcpu "golang.org/x/sys/cpu"
)

// softmaxVariants are the implementations this processor runs.
func softmaxVariants(t *testing.T) map[string]struct {
	row  func([]float32, int, float32) (float32, float32)
	grad func([]float32, []float32, int, float32, float32)
} {
	variants := map[string]struct {
		row  func([]float32, int, float32) (float32, float32)
		grad func([]float32, []float32, int, float32, float32)
	}{"portable": {softmaxRowGo, softmaxGradRowGo}}
	variants["chosen"] = struct {
		row  func([]float32, int, float32) (float32, float32)
		grad func([]float32, []float32, int, float32, float32)
	}{softmaxRow, softmaxGradRow}
	if !xcpu.X86.HasAVX512F {
		t.Log("no AVX-512 here: its variant is not tested")
	}
	return variants
}

// TestSoftmaxRows holds every variant to float64 for each number of keys seen.
// exp is good to 2 units in the last place, a sum of 64 positive terms to 64
// roundings.
func TestSoftmaxRows(t *testing.T) {
	const guard = 7
	r := rand.New(rand.NewPCG(1, 1))
	for name, v := range softmaxVariants(t) {
		for n := 1; n <= keyBlock; n++ {
			for _, old := range []float32{float32(math.Inf(-1)), 0, 50} {
				scores := normals(r, keyBlock+2*guard)
				for i := range scores {
					scores[i] *= 10
				}
				d := normals(r, len(scores))
				row, dRow := slices.Clone(scores), slices.Clone(d)
				// What the query does not see must not matter.
				for j := n; j < keyBlock; j++ {
					row[guard+j], dRow[guard+j] = float32(math.NaN()), float32(math.Inf(1))
				}
				gradRow := slices.Clone(row)

				highest, sum := v.row(row[guard:guard+keyBlock], n, old)
				wantHighest, wantSum := float64(old), 0.0
				for _, s := range scores[guard : guard+n] {
					wantHighest = math.Max(wantHighest, float64(s))
				}
				const lse, delta = 3, 0.5
				v.grad(gradRow[guard:guard+keyBlock], dRow[guard:guard+keyBlock], n, lse, delta)
				for j := range keyBlock {
					p, q, g := 0.0, 0.0, 0.0
					if j < n {
						p = math.Exp(float64(scores[guard+j] - float32(wantHighest)))
						q = math.Exp(float64(scores[guard+j] - lse))
						g = q * float64(d[guard+j]-delta)
					}
					wantSum += p
					close := func(got float32, want float64) bool {
						return math.Abs(float64(got)-want) <= 3e-7*math.Abs(want)+1e-44
					}
					if !close(row[guard+j], p) || !close(gradRow[guard+j], q) || !close(dRow[guard+j], g) {
						t.Fatalf("%s, %d keys: element %d is %v, %v, %v, want %v, %v, %v", name, n, j, row[guard+j], gradRow[guard+j], dRow[guard+j], p, q, g)
					}
				}
				if float64(highest) != wantHighest || math.Abs(float64(sum)-wantSum) > 64*6e-8*wantSum {
					t.Fatalf("%s, %d keys: maximum %v and sum %v, want %v and %v", name, n, highest, sum, wantHighest, wantSum)
				}
				for _, x := range []int{0, 1} {
					at := []int{0, guard + keyBlock}[x]
					equalBits(t, "guard of scores", row[at:at+guard], scores[at:at+guard])
					equalBits(t, "guard of d", dRow[at:at+guard], d[at:at+guard])
				}
			}
		}
	}
}

// TestSoftmaxKeepsNaN: a score that is not a number is not lost.
func TestSoftmaxKeepsNaN(t *testing.T) {
	for name, v := range softmaxVariants(t) {
		scores := make([]float32, keyBlock)
		scores[20] = float32(math.NaN())
		if _, sum := v.row(scores, keyBlock, 0); sum == sum {
			t.Errorf("%s: sum is %v", name, sum)
		}
	}
}
