package vec

// Axpy adds a multiple of x to y: y[i] += alpha*x[i].
func Axpy(alpha float32, x, y []float32) {
	same(len(x), len(y))
	if len(x) > 0 {
		active.axpy(len(x), alpha, &x[0], &y[0])
	}
}

// Scale multiplies x in place: x[i] *= alpha.
func Scale(alpha float32, x []float32) {
	if len(x) > 0 {
		active.scale(len(x), alpha, &x[0])
	}
}

// Add sets dst[i] = x[i] + y[i].
func Add(dst, x, y []float32) {
	same(len(dst), len(x))
	same(len(dst), len(y))
	if len(dst) > 0 {
		active.add(len(dst), &dst[0], &x[0], &y[0])
	}
}
