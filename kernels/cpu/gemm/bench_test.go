package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"millrace/kernels/cpu/gemm/internal/fmapeak"
	"millrace/kernels/cpu/gemm/workers"
)

func BenchmarkFMAPeak(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(fmapeak.GFLOPS(), "GFLOP/s")
	}
}

// shape is one product of the benchmark, m x n over k.
type shape struct {
	form
	m, n, k int
}

func (s shape) String() string { return fmt.Sprintf("%s/%dx%dx%d", s.name, s.m, s.n, s.k) }

var (
	nn, nt, tn = forms[0], forms[1], forms[2]

	squares = []shape{{nn, 128, 128, 128}, {nn, 256, 256, 256}, {nn, 512, 512, 512}, {nn, 768, 768, 768}, {nn, 1024, 1024, 1024}}
	// training are the products of a micro-batch of 4096 tokens of a model of
	// width 192: the forward pass, the gradient of the input, of the weights.
	training = []shape{
		{nt, 4096, 192, 192}, {nt, 4096, 512, 192}, {nt, 4096, 192, 512}, {nt, 1024, 2048, 192},
		{nn, 4096, 192, 512}, {nn, 1024, 192, 2048},
		{tn, 512, 192, 4096}, {tn, 192, 192, 4096}, {tn, 2048, 192, 1024},
		{nt, 300, 300, 32}, {nn, 300, 32, 300}, {tn, 300, 32, 300},
	}
	// decoding are a step of 1 and of 32 sequences, with B packed ahead.
	decoding = []shape{{nt, 1, 192, 192}, {nt, 1, 512, 192}, {nt, 1, 2048, 192},
		{nt, 32, 192, 192}, {nt, 32, 512, 192}, {nt, 32, 192, 512}, {nt, 32, 2048, 192}}
)

// BenchmarkGemm reports the GFLOP/s of the best sample, as [fmapeak.GFLOPS] does
// for the peak, and its ratio in percent to the peak of the threads used, which is
// measured just before: a core's clock changes from one second to the next.
func BenchmarkGemm(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, group := range []struct {
		name   string
		shapes []shape
		packed bool
	}{{"square", squares, false}, {"train", training, false}, {"decode", decoding, true}} {
		for _, s := range group.shapes {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%v/threads=%d", group.name, s, threads), func(b *testing.B) {
					before := workers.Threads()
					workers.SetThreads(threads)
					defer workers.SetThreads(before)
					p := newProblem(r, s.form, s.m, s.n, s.k, 0)
					call := func() {
						Gemm(p.transA, p.transB, p.m, p.n, p.k, p.a.data, p.a.stride, p.b.data, p.b.stride, p.c.data, p.c.stride, false)
					}
					if group.packed {
						packed := Pack(p.transB, p.n, p.k, p.b.data, p.b.stride)
						call = func() { GemmPacked(p.transA, p.m, p.a.data, p.a.stride, packed, p.c.data, p.c.stride, false) }
					}
					peak := fmapeak.GFLOPS() * float64(threads)
					b.ReportAllocs()
					// One sample is about a million multiplications or one call.
					calls := 1 + 1<<20/(p.m*p.n*p.k)
					best := time.Duration(math.MaxInt64)
					for b.Loop() {
						start := time.Now()
						for range calls {
							call()
						}
						best = min(best, time.Since(start))
					}
					rate := 2 * float64(p.m*p.n*p.k*calls) / float64(best.Nanoseconds())
					b.ReportMetric(rate, "GFLOP/s")
					b.ReportMetric(100*rate/peak, "%peak")
				})
			}
		}
	}
}
