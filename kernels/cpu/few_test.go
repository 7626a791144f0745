package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFewRows: the products for few rows have the bits of those for many, touch
// nothing beside their rows, and leave their inputs alone.
func TestFewRows(t *testing.T) {
	const guard = 40
	r := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{32, 64, 96, 128, 256} {
		if !fewRowsServe(d) {
			t.Skip("this processor has no products for few rows")
		}
		for rows := 1; rows <= fewRows; rows++ {
			for _, n := range []int{1, 2, 63, 64} {
				name := fmt.Sprintf("%d rows of %d, %d keys", rows, d, n)
				block, q := normals(r, blockFloats(d)), normals(r, rows*d)
				inputs := slices.Concat(block, q)
				want, got := normals(r, rows*keyBlock+guard), []float32(nil)
				got = slices.Clone(want)
				manyRows.score(want, q, rows, d, block)
				fewRowsProducts.score(got, q, rows, d, block)
				equalBits(t, "scores of "+name, got, want)

				probs := slices.Clone(want)
				want = normals(r, rows*d+guard)
				got = slices.Clone(want)
				manyRows.weigh(want, probs, rows, d, n, block, block)
				fewRowsProducts.weigh(got, probs, rows, d, n, block, block)
				equalBits(t, "output of "+name, got, want)
				equalBits(t, "inputs of "+name, slices.Concat(block, q), inputs)
			}
		}
	}
}
