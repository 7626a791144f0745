package gemm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// matrix is a row-major matrix whose rows are apart, with a guard of NaN before,
// between and after them.
type matrix struct {
	whole, data []float32
	rows, cols  int
	stride      int
}

const guard = 70

func newMatrix(rows, cols, gap int) matrix {
	m := matrix{rows: rows, cols: cols, stride: cols + gap}
	m.whole = make([]float32, guard+rows*m.stride+guard)
	for i := range m.whole {
		m.whole[i] = float32(math.NaN())
	}
	end := guard
	if rows > 0 && cols > 0 {
		end += (rows-1)*m.stride + cols
	}
	m.data = m.whole[guard:end:end]
	return m
}

func randomMatrix(r *rand.Rand, rows, cols, gap int) matrix {
	m := newMatrix(rows, cols, gap)
	for i := range rows {
		for j := range cols {
			m.data[i*m.stride+j] = float32(r.NormFloat64())
		}
	}
	return m
}

func (m matrix) at(i, j int) float32 { return m.data[i*m.stride+j] }

// clone has the same layout and contents.
func (m matrix) clone() matrix {
	c := m
	c.whole = append([]float32(nil), m.whole...)
	c.data = c.whole[guard : guard+len(m.data) : guard+len(m.data)]
	return c
}

// checkGuards fails unless everything outside the matrix is still NaN.
func (m matrix) checkGuards(t *testing.T, name string) {
	t.Helper()
	for i, v := range m.whole {
		at := i - guard
		inside := at >= 0 && m.stride > 0 && at/m.stride < m.rows && at%m.stride < m.cols
		if !inside && v == v {
			t.Fatalf("%s: element %d outside the matrix was written", name, at)
		}
	}
}

// sameBits fails unless the matrices agree to the bit.
func sameBits(t *testing.T, got, want matrix, what string) {
	t.Helper()
	for i := range want.rows {
		for j := range want.cols {
			g, w := got.at(i, j), want.at(i, j)
			if math.Float32bits(g) != math.Float32bits(w) {
				t.Fatalf("%s: C[%d,%d] = %v, want %v", what, i, j, g, w)
			}
		}
	}
}
