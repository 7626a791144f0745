package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exp replaces x by e^x. Method and coefficients are those of expf in Moshier's
// Cephes library:
//
//	n = round(x * log2 e)
//	r = x - n*ln 2, with ln 2 in two parts, |r| <= 0.347
//	e^x = 2^n * (1 + r + r*r*P(r)), P of degree 5
//
// x is first limited to where the result is finite and not zero, and a little
// beyond. NaN stays NaN: MIN and MAX return their second source for it.
func (s set) exp(x reg.Register) {
	VMINPS(x, s.constant("expHigh", 89), x)
	VMAXPS(x, s.constant("expLow", -104.5), x)
	n := s.register()
	VMULPS(constant("log2e", 1.44269504088896341), x, n)
	const nearest = 8 // round to nearest even, no exception
	if s.wide() {
		VRNDSCALEPS(U8(nearest), n, n)
	} else {
		VROUNDPS(U8(nearest), n, n)
	}
	VFNMADD231PS(constant("ln2High", 0.693359375), n, x)
	VFNMADD231PS(constant("ln2Low", -2.12194440e-4), n, x)
	y := s.constant("expP5", 1.9875691500e-4)
	VFMADD213PS(constant("expP4", 1.3981999507e-3), x, y)
	VFMADD213PS(constant("expP3", 8.3334519073e-3), x, y)
	VFMADD213PS(constant("expP2", 4.1665795894e-2), x, y)
	VFMADD213PS(constant("expP1", 1.6666665459e-1), x, y)
	VFMADD213PS(constant("expP0", 5.0000001201e-1), x, y)
	square := s.register()
	VMULPS(x, x, square)
	VFMADD213PS(x, square, y) // y*square + x
	VADDPS(constant("one", 1), y, y)
	if s.wide() {
		VSCALEFPS(n, y, x)
		return
	}
	// 2^n may be no float32 where the result is one, so it is two factors.
	k, half := s.register(), s.register()
	VCVTPS2DQ(n, k)
	VPSRAD(U8(1), k, half)
	VPSUBD(half, k, k)
	for _, e := range []reg.Register{half, k} {
		VPADDD(bits("exponentBias", 127), e, e)
		VPSLLD(U8(23), e, e)
		VMULPS(e, y, y)
	}
	VMOVAPS(y, x)
}

// constant is a register with v in every lane.
func (s set) constant(name string, v float32) reg.Register {
	r := s.register()
	VMOVUPS(constant(name, v), r)
	return r
}

// exponentials generates the loops of exp and softmax.
func (s set) exponentials() {
	s.function("Exp", "func(n int, dst, x *float32)", "expPortable")
	n, p := Load(Param("n"), GP64()), args("dst", "x")
	s.each("Exp", n, p, func(c chunk) {
		x := c.load(p[1], 0)
		s.exp(x)
		c.store(x, p[0], 0)
	})
	end()

	s.function("ExpSum", "func(n int, dst, x *float32, shift float32) float32", "expSumPortable")
	shift := s.scalar("shift")
	n, p = Load(Param("n"), GP64()), args("dst", "x")
	total := s.lanes64("ExpSum", n, p, func(c chunk, disp int, sum reg.Register) {
		x := c.load(p[1], disp)
		VSUBPS(shift, x, x)
		s.exp(x)
		c.only(x)
		c.store(x, p[0], disp)
		VADDPS(x, sum, sum)
	})
	Store(total, ReturnIndex(0))
	end()

	s.function("SumExp", "func(n int, x *float32, shift float32) float32", "sumExpPortable")
	shift = s.scalar("shift")
	n, p = Load(Param("n"), GP64()), args("x")
	total = s.lanes64("SumExp", n, p, func(c chunk, disp int, sum reg.Register) {
		x := c.load(p[0], disp)
		VSUBPS(shift, x, x)
		s.exp(x)
		c.only(x)
		VADDPS(x, sum, sum)
	})
	Store(total, ReturnIndex(0))
	end()
}
