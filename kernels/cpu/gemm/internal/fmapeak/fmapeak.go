// Package fmapeak measures the most fused multiply-adds that one core can do,
// the yardstick of package gemm's benchmarks.
package fmapeak

import (
	"math"
	"time"
)

// GFLOPS returns the peak of one core in 1e9 float32 operations a second, a
// fused multiply-add counting as two, as the best of several short runs: the
// best is what the core can do, anything less is somebody else's work. It is 0
// where there is no assembly.
func GFLOPS() float64 {
	best := time.Duration(math.MaxInt64)
	const rounds = 1 << 18
	lanes := lanes()
	if lanes == 0 {
		return 0
	}
	for range 20 {
		start := time.Now()
		if lanes == 16 {
			chains512(rounds)
		} else {
			chains256(rounds)
		}
		best = min(best, time.Since(start))
	}
	return float64(2*chains*lanes*rounds) / float64(best.Nanoseconds())
}

// chains is the number of independent sums in a round: latency 4 on 2 units
// needs 8.
const chains = 12
