package vec

import "math"

// RMSNorm normalises one row by its root mean square (Zhang & Sennrich 2019,
// arXiv:1910.07467) and returns the factor, which [RMSNormBackward] needs:
//
//	r = 1 / sqrt(mean of x[i]*x[i] + eps)    in float64
//	dst[i] = x[i] * r * weight[i]
func RMSNorm(dst, x, weight []float32, eps float32) (r float32) {
	n := len(x)
	same(len(dst), n)
	same(len(weight), n)
	if n == 0 {
		return 0
	}
	r = float32(1 / math.Sqrt(SumSquares(x)/float64(n)+float64(eps)))
	active.normalize(n, &dst[0], &x[0], &weight[0], r)
	return r
}

// RMSNormBackward gives the gradient of [RMSNorm] with respect to x from d, that
// of its result, and adds the gradient of the weights to dWeight:
//
//	g = r*r * mean of d[i]*weight[i]*x[i]
//	dWeight[i] += d[i] * x[i]*r
//	dx[i] = r * (d[i]*weight[i] - x[i]*g)
func RMSNormBackward(dx, dWeight, d, x, weight []float32, r float32) {
	n := len(d)
	same(len(dx), n)
	same(len(dWeight), n)
	same(len(x), n)
	same(len(weight), n)
	if n == 0 {
		return
	}
	g := active.dot3(n, &d[0], &weight[0], &x[0]) / float32(n) * r * r
	active.normalizeBackward(n, &dx[0], &dWeight[0], &d[0], &x[0], &weight[0], r, g)
}
