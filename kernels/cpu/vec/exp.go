package vec

import "math"

// Exp sets dst[i] = e^x[i], with a relative error below 2.5e-7 where the result
// is a normal float32, and below 2^-149 absolute where it is smaller. Results
// above the largest float32 are +Inf, NaN stays NaN.
func Exp(dst, x []float32) {
	same(len(dst), len(x))
	if len(x) > 0 {
		active.exp(len(x), &dst[0], &x[0])
	}
}

// Softmax sets dst[i] = exp(x[i]-m) / s, with m the largest x[i] and s the sum of
// exp(x[i]-m), and returns m + log(s), the logarithm of the sum of exp(x[i]). An
// x of -Inf gets 0. When all are -Inf (or there are none) all get 0 and the
// result is -Inf.
func Softmax(dst, x []float32) (logSumExp float32) {
	same(len(dst), len(x))
	m := largest(x)
	if m == negativeInfinity {
		clear(dst)
		return m
	}
	s := active.expSum(len(x), &dst[0], &x[0], m)
	active.scale(len(x), 1/s, &dst[0])
	return m + float32(math.Log(float64(s)))
}

// LogSumExp returns what [Softmax] returns.
func LogSumExp(x []float32) float32 {
	m := largest(x)
	if m == negativeInfinity {
		return m
	}
	return m + float32(math.Log(float64(active.sumExp(len(x), &x[0], m))))
}

var negativeInfinity = float32(math.Inf(-1))

// largest is the largest element, -Inf when there is none. Where there is NaN it
// is NaN or any element: Softmax is NaN in either case.
func largest(x []float32) float32 {
	m := negativeInfinity
	whole := len(x) / largestLanes * largestLanes
	if whole > 0 {
		m = active.largest(whole, &x[0])
	}
	for _, v := range x[whole:] {
		m = max(m, v)
	}
	return m
}
