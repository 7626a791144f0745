package cpu

import "millrace/kernels/cpu/gemm"

// fewRows is the most query rows of a tile for which attention over a key block
// is bound by reading the block rather than by arithmetic. Decoding has as many
// rows as query heads share a kv head.
const fewRows = 8

// blockProducts are the two matrix products of attention with a key block.
type blockProducts struct {
	// score writes scores[r,j] = sum_i q[r,i]*keys[i,j], [R,keyBlock], for the
	// d elements of a head in order.
	score func(scores, q []float32, rows, d int, block []float32)
	// weigh adds sum_j probs[r,j]*values[j,i] to o[r,i], [R,D], for the first n
	// keys in order, from a sum that starts at 0. ahead is the next block.
	weigh func(o, probs []float32, rows, d, n int, block, ahead []float32)
}

// manyRows serves any number of rows.
var manyRows = blockProducts{
	score: func(scores, q []float32, rows, d int, block []float32) {
		gemm.Gemm(false, false, rows, keyBlock, d, q, d, block, keyBlock, scores, keyBlock, false)
	},
	weigh: func(o, probs []float32, rows, d, n int, block, _ []float32) {
		gemm.Gemm(false, false, rows, d, n, probs, keyBlock, block[d*keyBlock:], d, o, d, true)
	},
}

// productsFor returns what computes attention of rows queries, to the same bits
// in every case.
func productsFor(rows, d int) *blockProducts {
	if rows <= fewRows && fewRowsServe(d) {
		return &fewRowsProducts
	}
	return &manyRows
}
