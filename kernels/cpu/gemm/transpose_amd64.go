//go:build !noasm

package gemm

// squaresFunc sets dst[p*stride+j] = src[j*ld+p] for j < side, p < squares*side,
// with a side of its own.
type squaresFunc func(dst *float32, stride int, src *float32, ld, squares int)

// transposeBySquares is a packFunc: squares does all whole squares, plain Go the
// columns and terms that are left over.
func transposeBySquares(side int, squares squaresFunc, dst *float32, stride int, src *float32, ld, k, cols int) {
	wholeK, wholeCols := k/side*side, cols/side*side
	if wholeK > 0 {
		for j := 0; j < wholeCols; j += side {
			squares(at(dst, j), stride, at(src, j*ld), ld, k/side)
		}
	}
	transposeElements(dst, stride, src, ld, wholeK, k, 0, wholeCols)
	transposeElements(dst, stride, src, ld, 0, k, wholeCols, cols)
	clearColumns(dst, stride, k, cols)
}
