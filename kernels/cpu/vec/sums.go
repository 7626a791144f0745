package vec

// Dot returns the sum of x[i]*y[i].
func Dot(x, y []float32) float32 {
	same(len(x), len(y))
	if len(x) == 0 {
		return 0
	}
	return active.dot(len(x), &x[0], &y[0])
}

// SumSquares returns the sum of x[i]*x[i], squared and added in float64, where a
// square is exact: 32 lanes, added as the package comment says of 64, over the
// elements that fill them all equally; then the elements that are left, one by
// one.
func SumSquares(x []float32) float64 {
	var sum float64
	whole := len(x) / sumSquaresLanes * sumSquaresLanes
	if whole > 0 {
		sum = active.sumSquares(whole, &x[0])
	}
	for _, v := range x[whole:] {
		sum += float64(v) * float64(v)
	}
	return sum
}
