package gemm

import "fmt"

// Gemm sets C = op(A) op(B), or adds to C when accumulate is true. See the
// package comment for shapes and the order of summation.
//
// The strides lda, ldb, ldc count elements from one stored row to the next and
// may exceed the row's width; what lies between is neither read nor written. C
// must not overlap A or B. m, n or k may be 0; with k = 0 an op(A) op(B) of
// zeros is written.
//
// Large products are shared with the workers of [millrace/kernels/cpu/gemm/workers];
// small ones run on the calling goroutine. It is safe for concurrent use on
// different C. It panics when a slice is shorter than its shape and stride say,
// and when both operands are to be transposed.
func Gemm(transA, transB bool, m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	if transA && transB {
		panic("gemm: both operands transposed")
	}
	checkOp("A", transA, m, k, len(a), lda)
	checkOp("B", transB, k, n, len(b), ldb)
	check("C", m, n, len(c), ldc)
	active.multiply(m, n, k, op(transA, a, lda), op(transB, b, ldb), nil, c, ldc, accumulate)
}

// GemmPacked is [Gemm] with a B packed ahead, and gives the same bits.
func GemmPacked(transA bool, m int, a []float32, lda int, b *Packed, c []float32, ldc int, accumulate bool) {
	checkOp("A", transA, m, b.k, len(a), lda)
	check("C", m, b.n, len(c), ldc)
	b.variant.multiply(m, b.n, b.k, op(transA, a, lda), operand{}, b.data, c, ldc, accumulate)
}

// Kernel names the variant that this process uses: "avx512", "avx2" or
// "portable".
func Kernel() string { return active.name }

// checkOp is check for an operand that is stored transposed when trans is true.
func checkOp(name string, trans bool, rows, cols, length, stride int) {
	if trans {
		rows, cols = cols, rows
	}
	check(name, rows, cols, length, stride)
}

// check panics unless rows x cols with the given stride lie within length.
func check(name string, rows, cols, length, stride int) {
	switch {
	case rows < 0 || cols < 0:
		panic(fmt.Sprintf("gemm: %s is %d x %d", name, rows, cols))
	case rows == 0 || cols == 0:
	case stride < cols:
		panic(fmt.Sprintf("gemm: %s has stride %d for rows of %d", name, stride, cols))
	case (rows-1)*stride+cols > length:
		panic(fmt.Sprintf("gemm: %s of %d x %d, stride %d, needs %d elements, has %d",
			name, rows, cols, stride, (rows-1)*stride+cols, length))
	}
}
