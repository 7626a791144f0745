package gemm

// Packed is op(B) laid out as the kernels read it, for a B that many products
// share. It is bound to this process's kernel and is never written to a file.
type Packed struct {
	n, k    int
	variant *variant
	data    []float32
}

// Pack copies op(B), k x n, into a new Packed; b may change afterwards. transB
// and ldb are as in [Gemm].
func Pack(transB bool, n, k int, b []float32, ldb int) *Packed {
	return active.pack(transB, n, k, b, ldb)
}

func (v *variant) pack(transB bool, n, k int, b []float32, ldb int) *Packed {
	checkOp("B", transB, k, n, len(b), ldb)
	packed := &Packed{n: n, k: k, variant: v, data: make([]float32, v.panels(n)*v.width*k)}
	if k > 0 {
		for j := range v.panels(n) {
			v.packPanel(packed.data[j*v.width*k:], op(transB, b, ldb), j*v.width, min(n, (j+1)*v.width), 0, k)
		}
	}
	return packed
}

// panels is the number of panels that n columns make.
func (v *variant) panels(n int) int { return (n + v.width - 1) / v.width }

// packPanel writes terms p0 to p1 of the columns j0 to j1 of op(B), at most
// width of them.
func (v *variant) packPanel(dst []float32, b operand, j0, j1, p0, p1 int) {
	src := &b.data[p0*b.row+j0*b.col]
	if b.col == 1 {
		v.copyRows(&dst[0], v.width, src, b.row, p1-p0, j1-j0)
	} else {
		v.transpose(&dst[0], v.width, src, b.col, p1-p0, j1-j0)
	}
}
