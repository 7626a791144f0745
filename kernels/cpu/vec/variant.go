package vec

// variant is one implementation of the loops. Its functions trust their
// arguments: each pointer is followed by n >= 1 elements.
type variant struct {
	// name is what Kernel returns.
	name string

	axpy  func(n int, alpha float32, x, y *float32)
	scale func(n int, alpha float32, x *float32)
	add   func(n int, dst, x, y *float32)

	dot  func(n int, x, y *float32) float32
	dot3 func(n int, x, y, z *float32) float32
	// sumSquares has n a multiple of sumSquaresLanes.
	sumSquares func(n int, x *float32) float64
	// largest has n a multiple of largestLanes.
	largest func(n int, x *float32) float32

	exp func(n int, dst, x *float32)
	// expSum sets dst = exp(x - shift) and returns the sum; sumExp only sums.
	expSum func(n int, dst, x *float32, shift float32) float32
	sumExp func(n int, x *float32, shift float32) float32

	siluGate         func(n int, dst, gate, up *float32)
	siluGateBackward func(n int, dGate, dUp, gate, up, d *float32)

	normalize         func(n int, dst, x, weight *float32, r float32)
	normalizeBackward func(n int, dx, dWeight, d, x, weight *float32, r, g float32)

	adamW func(n int, w, g, m, v *float32,
		gradScale, beta1, rest1, beta2, rest2, correction1, correction2, epsilon, learningRate, weightDecay float32)
}

const (
	sumSquaresLanes = 32
	largestLanes    = 16
)

// active is the variant that this process uses: the fastest the processor
// supports.
var active = variants()[0]

// Kernel names the variant that this process uses: "avx512", "avx2" or
// "portable".
func Kernel() string { return active.name }

// same panics unless the lengths of two slices that belong together agree.
func same(a, b int) {
	if a != b {
		panic("vec: slices of different length")
	}
}
