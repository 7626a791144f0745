package schemas

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/bitutil"
)

// TestBits: what appendBits packs, Arrow finds bit by bit, and readBits takes
// back any part.
func TestBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		values := make([]bool, n)
		for i := range values {
			values[i] = r.IntN(2) == 1
		}
		packed := appendBits([]byte{0xff}, values)[1:]
		if len(packed) != int(bitutil.BytesForBits(int64(n))) {
			t.Fatalf("%d values in %d bytes", n, len(packed))
		}
		for i, v := range values {
			if bitutil.BitIsSet(packed, i) != v {
				t.Fatalf("bit %d of %d is wrong", i, n)
			}
		}
		for beg := range n {
			for end := beg; end <= n; end++ {
				got := make([]bool, end-beg)
				readBits(got, packed, beg)
				if !slices.Equal(got, values[beg:end]) {
					t.Fatalf("bits %d to %d of %d: %v, want %v", beg, end, n, got, values[beg:end])
				}
			}
		}
	}
}
