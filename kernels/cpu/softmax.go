package cpu

import "millrace/kernels/cpu/vec"

// softmaxRow and softmaxGradRow are the two row loops of attention; a row is
// the keyBlock scores of one query, of which it sees the first n, n >= 1.
var (
	// softmaxRow replaces the first n scores by exp(score-newMaximum) and the
	// others by 0, and returns the sum of the row and
	//
	//	newMaximum = max(maximum, scores[0], ..., scores[n-1])
	softmaxRow = softmaxRowGo
	// softmaxGradRow does, for j < n,
	//
	//	scores[j] = exp(scores[j]-lse)
	//	d[j]      = scores[j]*(d[j]-delta)
	//
	// and sets the others of both to 0.
	softmaxGradRow = softmaxGradRowGo
)

func softmaxRowGo(scores []float32, n int, maximum float32) (newMaximum, sum float32) {
	seen := scores[:n]
	for _, v := range seen {
		maximum = max(maximum, v)
	}
	expShifted(seen, maximum)
	for _, v := range seen {
		sum += v
	}
	clear(scores[n:keyBlock])
	return maximum, sum
}

func softmaxGradRowGo(scores, d []float32, n int, lse, delta float32) {
	expShifted(scores[:n], lse)
	for j, p := range scores[:n] {
		d[j] = p * (d[j] - delta)
	}
	clear(scores[n:keyBlock])
	clear(d[n:keyBlock])
}

// expShifted replaces x by exp(x-shift).
func expShifted(x []float32, shift float32) {
	for j := range x {
		x[j] -= shift
	}
	vec.Exp(x, x)
}
