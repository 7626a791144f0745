//go:build !noasm

package cpu

import "millrace/kernels/cpu/gemm"

// fewRowsServe tells whether fewRowsProducts can do heads of size d, with the
// bits of gemm's AVX-512 kernels: d has whole vectors and a sum of d terms is
// not split.
func fewRowsServe(d int) bool {
	return gemm.Kernel() == "avx512" && d%32 == 0 && d <= 256
}

// fewRowsProducts read a key block once, two rows at a time, and meanwhile fetch
// what comes next into the cache: first the block's values, then the next block.
// Key blocks of a sequence lie apart from each other, so the processor does not
// foresee them.
var fewRowsProducts = blockProducts{
	score: func(scores, q []float32, rows, d int, block []float32) {
		_, _, _ = q[rows*d-1], scores[rows*keyBlock-1], block[blockFloats(d)-1]
		for r := 0; r < rows; r += 2 {
			second := min(1, rows-r-1) // 0 computes an odd last row twice
			score2(&scores[r*keyBlock], second*keyBlock, &q[r*d], second*d, d, &block[0], &block[d*keyBlock])
		}
	},
	weigh: func(o, probs []float32, rows, d, n int, block, ahead []float32) {
		_, _, _ = o[rows*d-1], probs[rows*keyBlock-1], block[blockFloats(d)-1]
		for r := 0; r < rows; r += 2 {
			second := min(1, rows-r-1)
			weigh2(&o[r*d], second*d, &probs[r*keyBlock], second*keyBlock, d, n, &block[d*keyBlock], &ahead[0])
		}
	},
}

// score2 is, for rows r = 0 and 1 and j < 64,
//
//	scores[r*scoresRow+j] = sum over i < d of q[r*qRow+i]*keys[i*64+j]
//
// and prefetches as much from ahead as it reads from keys.
//
//go:noescape
func score2(scores *float32, scoresRow int, q *float32, qRow, d int, keys, ahead *float32)

// weigh2 is, for rows r = 0 and 1 and i < d, a multiple of 32,
//
//	o[r*oRow+i] += sum over j < n of probs[r*probsRow+j]*values[j*d+i]
//
// and prefetches as much from ahead as it reads from values. n >= 1.
//
//go:noescape
func weigh2(o *float32, oRow int, probs *float32, probsRow, d, n int, values, ahead *float32)
