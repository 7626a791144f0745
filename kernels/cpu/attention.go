package cpu

import (
	"math"

	"millrace/kernels/cpu/vec"
)

// keyBlock is the number of keys a step of attention takes. Blocks start at
// multiples of it, counted from the start of the sequence, in training, prefill
// and decoding alike: that is why all three give the same bits.
const keyBlock = 64

// blockFloats is the size of one key block of one kv head: keys transposed
// [D,keyBlock], then values [keyBlock,D].
func blockFloats(headDim int) int { return 2 * headDim * keyBlock }

// putKeyValue writes key and value [D] into a slot of a block.
func putKeyValue(block []float32, slot int, key, value []float32) {
	d := len(key)
	for i, v := range key {
		block[i*keyBlock+slot] = v
	}
	copy(block[d*keyBlock+slot*d:], value)
}

// queryTile is the state of attention for up to its capacity of query rows: the
// running maximum and sum of the softmax, and the output before division by it
// (flash attention: Dao et al. 2022, arXiv:2205.14135).
type queryTile struct {
	d        int
	position []int     // [R] of each row; it sees keys 0..position
	q        []float32 // [R,D], scaled by D^-1/2
	o        []float32 // [R,D]
	maximum  []float32 // [R]
	sum      []float32 // [R]
	scores   []float32 // [R,keyBlock]
}

func newQueryTile(rows, headDim int) *queryTile {
	return &queryTile{
		d:        headDim,
		position: make([]int, rows),
		q:        make([]float32, rows*headDim),
		o:        make([]float32, rows*headDim),
		maximum:  make([]float32, rows),
		sum:      make([]float32, rows),
		scores:   make([]float32, rows*keyBlock),
	}
}

// visible is the number of keys of a block that a row at position sees.
func visible(position, block int) int {
	return max(0, min(keyBlock, position+1-block*keyBlock))
}

// attend computes attention of the first rows of the tile over the blocks of
// one kv head. position and q are set by the caller. Afterwards o holds the
// output and sum the log-sum-exp of each row's scores.
func (t *queryTile) attend(rows int, blocks [][]float32) {
	d := t.d
	clear(t.o[:rows*d])
	last := 0
	for r := range rows {
		t.maximum[r] = float32(math.Inf(-1))
		t.sum[r] = 0
		last = max(last, t.position[r])
	}
	products := productsFor(rows, d)
	for b := range last/keyBlock + 1 {
		block, ahead := blocks[b], blocks[min(b+1, last/keyBlock)]
		products.score(t.scores, t.q, rows, d, block)
		seen := 0
		for r := range rows {
			n := visible(t.position[r], b)
			seen = max(seen, n)
			t.accumulate(r, n)
		}
		products.weigh(t.o, t.scores, rows, d, seen, block, ahead)
	}
	for r := range rows {
		vec.Scale(1/t.sum[r], t.o[r*d:(r+1)*d])
		t.sum[r] = t.maximum[r] + float32(math.Log(float64(t.sum[r])))
	}
}

// accumulate turns the first n scores of row r into exp(score-maximum) and the
// others into 0, and rescales what the row has gathered when its maximum rises.
func (t *queryTile) accumulate(r, n int) {
	scores := t.scores[r*keyBlock : (r+1)*keyBlock]
	if n == 0 {
		clear(scores)
		return
	}
	highest, sum := softmaxRow(scores, n, t.maximum[r])
	if highest > t.maximum[r] {
		shrink := exp(t.maximum[r] - highest)
		t.maximum[r] = highest
		t.sum[r] *= shrink
		vec.Scale(shrink, t.o[r*t.d:(r+1)*t.d])
	}
	t.sum[r] += sum
}

func exp(x float32) float32 { return float32(math.Exp(float64(x))) }
