//go:build !race

// The race detector makes sync.Pool drop buffers at random.

package gemm

import (
	"math/rand/v2"
	"testing"
)

func TestGemmDoesNotAllocate(t *testing.T) {
	setThreads(t, 2)
	r := rand.New(rand.NewPCG(11, 12))
	for _, f := range forms {
		p := newProblem(r, f, 100, 100, 100, 0)
		packed := Pack(p.transB, p.n, p.k, p.b.data, p.b.stride)
		if n := testing.AllocsPerRun(100, func() {
			Gemm(p.transA, p.transB, p.m, p.n, p.k, p.a.data, p.a.stride, p.b.data, p.b.stride, p.c.data, p.c.stride, true)
			GemmPacked(p.transA, p.m, p.a.data, p.a.stride, packed, p.c.data, p.c.stride, true)
		}); n >= 1 {
			t.Errorf("%v: %v allocations a call", p, n)
		}
	}
}
