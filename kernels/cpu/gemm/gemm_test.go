package gemm

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// forEachVariant runs f as a subtest with each variant that this processor has.
func forEachVariant(t *testing.T, f func(t *testing.T, v *variant)) {
	t.Helper()
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) { f(t, v) })
	}
}

// sizes are edges of tiles, panels, squares and blocks of every variant.
var sizes = []struct{ m, n, k int }{
	{0, 0, 0}, {0, 3, 3}, {3, 0, 3}, {3, 3, 0}, {1, 1, 1}, {1, 1, 70}, {1, 70, 1}, {70, 1, 1},
	{1, 32, 16}, {1, 31, 17}, {1, 33, 15}, {2, 64, 65}, {3, 65, 64}, {4, 7, 8}, {5, 8, 9}, {6, 9, 7},
	{7, 15, 31}, {8, 16, 32}, {9, 17, 33}, {10, 47, 5}, {11, 48, 6}, {12, 32, 512}, {13, 33, 513},
	{14, 31, 511}, {23, 63, 48}, {24, 64, 16}, {25, 65, 47}, {26, 66, 2}, {37, 40, 41}, {48, 48, 1024},
	{49, 95, 1025}, {60, 64, 64}, {64, 128, 128}, {67, 69, 70}, {70, 67, 68}, {5, 530, 20},
	{30, 1030, 60}, {30, 2100, 5}, {150, 70, 100},
}

func TestGemmAgainstFloat64(t *testing.T) {
	type testCase struct {
		problem
		reference
	}
	var cases []testCase
	r := rand.New(rand.NewPCG(1, 2))
	for i, s := range sizes {
		for j, f := range forms {
			p := newProblem(r, f, s.m, s.n, s.k, (i+j)%2*5)
			cases = append(cases, testCase{p, p.reference()})
		}
	}
	forEachVariant(t, func(t *testing.T, v *variant) {
		for _, p := range cases {
			a, b := p.a.clone(), p.b.clone()
			for _, accumulate := range []bool{false, true} {
				c := p.multiply(v, accumulate)
				p.check(t, p.problem, c, accumulate)
				c.checkGuards(t, p.String())
			}
			sameBits(t, p.a, a, "operand A")
			sameBits(t, p.b, b, "operand B")
		}
	})
}

// TestGemmIgnoresOldC checks that without accumulate C is written, not read.
func TestGemmIgnoresOldC(t *testing.T) {
	forEachVariant(t, func(t *testing.T, v *variant) {
		p := newProblem(rand.New(rand.NewPCG(1, 3)), forms[0], 13, 33, 600, 0)
		want := p.multiply(v, false)
		for i := range p.c.data {
			p.c.data[i] = p.c.whole[0] // NaN
		}
		sameBits(t, p.multiply(v, false), want, "C of NaN")
	})
}

func TestGemmPanics(t *testing.T) {
	x := make([]float32, 100)
	for _, c := range []struct {
		name, want string
		call       func()
	}{
		{"both transposed", "both operands", func() { Gemm(true, true, 2, 2, 2, x, 2, x, 2, x, 2, false) }},
		{"negative", "A is -1 x 2", func() { Gemm(false, false, -1, 2, 2, x, 2, x, 2, x, 2, false) }},
		{"stride of A", "A has stride 4 for rows of 5", func() { Gemm(false, false, 2, 2, 5, x, 4, x, 2, x, 2, false) }},
		{"A short", "A of 2 x 5, stride 5, needs 10 elements, has 9", func() { Gemm(false, false, 2, 2, 5, x[:9], 5, x, 2, x, 2, false) }},
		{"transposed A short", "A of 5 x 2, stride 3, needs 14 elements, has 13", func() { Gemm(true, false, 2, 2, 5, x[:13], 3, x, 2, x, 2, false) }},
		{"transposed B short", "B of 2 x 5, stride 5, needs 10 elements, has 9", func() { Gemm(false, true, 2, 2, 5, x, 5, x[:9], 5, x, 2, false) }},
		{"C short", "C of 2 x 2, stride 3, needs 5 elements, has 4", func() { Gemm(false, false, 2, 2, 5, x, 5, x, 2, x[:4], 3, false) }},
		{"packed, A short", "A of 2 x 5", func() { GemmPacked(false, 2, x[:9], 5, Pack(true, 2, 5, x, 5), x, 2, false) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if message, _ := recover().(string); !strings.Contains(message, c.want) {
					t.Fatalf("panic %q, want %q", message, c.want)
				}
			}()
			c.call()
		})
	}
}
