package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

type form struct {
	name           string
	transA, transB bool
}

var forms = []form{{"NN", false, false}, {"NT", false, true}, {"TN", true, false}}

// problem is one product with random operands.
type problem struct {
	form
	m, n, k int
	a, b, c matrix
}

func newProblem(r *rand.Rand, f form, m, n, k, gap int) problem {
	p := problem{form: f, m: m, n: n, k: k, c: randomMatrix(r, m, n, gap)}
	if f.transA {
		p.a = randomMatrix(r, k, m, gap)
	} else {
		p.a = randomMatrix(r, m, k, gap)
	}
	if f.transB {
		p.b = randomMatrix(r, n, k, gap)
	} else {
		p.b = randomMatrix(r, k, n, gap)
	}
	return p
}

func (p problem) String() string {
	return fmt.Sprintf("%s %dx%dx%d strides %d %d %d", p.name, p.m, p.n, p.k, p.a.stride, p.b.stride, p.c.stride)
}

// multiply returns C after a call with v.
func (p problem) multiply(v *variant, accumulate bool) matrix {
	return p.part(v, 0, p.m, 0, p.n, accumulate)
}

// part returns C after a call that is given rows i0 to i1 and columns j0 to j1
// only.
func (p problem) part(v *variant, i0, i1, j0, j1 int, accumulate bool) matrix {
	c := p.c.clone()
	a, b := p.a.data, p.b.data
	if i0 < i1 && j0 < j1 && p.k > 0 {
		a, b = a[i0*op(p.transA, nil, p.a.stride).row:], b[j0*op(p.transB, nil, p.b.stride).col:]
	}
	v.multiply(i1-i0, j1-j0, p.k, op(p.transA, a, p.a.stride), op(p.transB, b, p.b.stride), nil,
		c.data[min(len(c.data), i0*c.stride+j0):], c.stride, accumulate)
	return c
}

// reference is op(A) op(B) in float64, and the same of absolute values.
type reference struct{ sum, size []float64 }

func (p problem) reference() reference {
	r := reference{make([]float64, p.m*p.n), make([]float64, p.m*p.n)}
	a, b := op(p.transA, p.a.data, p.a.stride), op(p.transB, p.b.data, p.b.stride)
	for i := range p.m {
		sum, size := r.sum[i*p.n:(i+1)*p.n], r.size[i*p.n:(i+1)*p.n]
		for q := range p.k {
			x := float64(a.data[i*a.row+q*a.col])
			for j := range p.n {
				y := x * float64(b.data[q*b.row+j*b.col])
				sum[j] += y
				size[j] += math.Abs(y)
			}
		}
	}
	return r
}

// check compares c with the reference. A sum of k products has on the way of
// each term at most one rounding of the product, k of sums in a block and one
// for each block, of at most 2^-24 of sum |a||b| + |c| each: the bound gamma_k of
// a recursive sum (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
// ed., section 3.1), to first order.
func (r reference) check(t *testing.T, p problem, c matrix, accumulate bool) {
	t.Helper()
	for i := range p.m {
		for j := range p.n {
			sum, size := r.sum[i*p.n+j], r.size[i*p.n+j]
			if accumulate {
				sum += float64(p.c.at(i, j))
				size += math.Abs(float64(p.c.at(i, j)))
			}
			tolerance := float64(p.k+p.k/termBlock+2) * 0x1p-24 * size
			if got := float64(c.at(i, j)); !(math.Abs(got-sum) <= tolerance) {
				t.Fatalf("%v accumulate %t: C[%d,%d] = %v, want %v within %.2g", p, accumulate, i, j, got, sum, tolerance)
			}
		}
	}
}
