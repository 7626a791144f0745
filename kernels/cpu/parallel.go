package cpu

import "millrace/kernels/cpu/gemm/workers"

// rowChunk is the number of rows one call of a row-wise operation takes. It is
// fixed, because partial sums over rows are kept by chunk.
const rowChunk = 64

// parallelRows splits rows into chunks of rowChunk and calls f for each, some
// at the same time; f must write only what belongs to its rows or chunk.
func parallelRows(rows int, f func(chunk, from, to int)) {
	workers.Run(chunks(rows), func(_, i int) {
		f(i, i*rowChunk, min(rows, (i+1)*rowChunk))
	})
}

func chunks(rows int) int { return (rows + rowChunk - 1) / rowChunk }

// grow returns a slice of n elements, s itself where it is large enough. The
// contents are arbitrary.
func grow[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}
