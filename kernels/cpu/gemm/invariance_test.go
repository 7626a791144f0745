package gemm

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"millrace/kernels/cpu/gemm/workers"
)

// setThreads sets the number of threads for the rest of the test.
func setThreads(t *testing.T, n int) {
	before := workers.Threads()
	workers.SetThreads(n)
	t.Cleanup(func() { workers.SetThreads(before) })
}

// TestBitsDoNotDependOnTheRest is the invariant of the package comment: a part
// of C computed by itself, with any number of threads, has the bits that it has
// in the whole.
func TestBitsDoNotDependOnTheRest(t *testing.T) {
	forEachVariant(t, func(t *testing.T, v *variant) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, f := range forms {
			for _, accumulate := range []bool{false, true} {
				p := newProblem(r, f, 75, 200, 700, 3)
				setThreads(t, 1)
				whole := p.multiply(v, accumulate)
				for _, threads := range []int{1, 2, 3, 7} {
					setThreads(t, threads)
					sameBits(t, p.multiply(v, accumulate), whole, fmt.Sprintf("%v, %d threads", p, threads))
				}
				for range 60 {
					i0, j0 := r.IntN(p.m), r.IntN(p.n)
					i1, j1 := i0+1+r.IntN(p.m-i0), j0+1+r.IntN(p.n-j0)
					if r.IntN(2) == 0 {
						i1 = i0 + 1 // a row alone, as in decoding
					}
					part := p.part(v, i0, i1, j0, j1, accumulate)
					want := p.c.clone()
					for i := i0; i < i1; i++ {
						copy(want.data[i*want.stride+j0:i*want.stride+j1], whole.data[i*whole.stride+j0:])
					}
					sameBits(t, part, want, fmt.Sprintf("%v, rows %d-%d, columns %d-%d", p, i0, i1, j0, j1))
					part.checkGuards(t, p.String())
				}
			}
		}
	})
}

// TestPackedGivesTheSameBits also checks that packing copies.
func TestPackedGivesTheSameBits(t *testing.T) {
	forEachVariant(t, func(t *testing.T, v *variant) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, s := range sizes {
			for _, f := range forms {
				p := newProblem(r, f, s.m, s.n, s.k, 2)
				want := p.multiply(v, true)
				packed := v.pack(p.transB, p.n, p.k, p.b.data, p.b.stride)
				clear(p.b.data)
				GemmPacked(p.transA, p.m, p.a.data, p.a.stride, packed, p.c.data, p.c.stride, true)
				sameBits(t, p.c, want, p.String())
			}
		}
	})
}

// TestFusedVariantsAgree checks that AVX-512 and AVX2 give the same bits.
func TestFusedVariantsAgree(t *testing.T) {
	vs := variants()
	if len(vs) < 3 {
		t.Skip("this processor has fewer than two assembly variants")
	}
	r := rand.New(rand.NewPCG(7, 8))
	for _, s := range sizes {
		for _, f := range forms {
			p := newProblem(r, f, s.m, s.n, s.k, 1)
			sameBits(t, p.multiply(vs[0], true), p.multiply(vs[1], true), p.String())
		}
	}
}

// TestConcurrentCalls runs many products at once, sharing the workers.
func TestConcurrentCalls(t *testing.T) {
	setThreads(t, 3)
	r := rand.New(rand.NewPCG(9, 10))
	var wg sync.WaitGroup
	for g := range 6 {
		p := newProblem(r, forms[g%3], 50+g, 130, 300, 0)
		want := p.multiply(active, false)
		wg.Go(func() {
			for range 30 {
				got := p.multiply(active, false)
				for i := range want.data {
					if got.data[i] != want.data[i] {
						t.Errorf("%v: element %d = %v, want %v", p, i, got.data[i], want.data[i])
						return
					}
				}
			}
		})
	}
	wg.Wait()
}
