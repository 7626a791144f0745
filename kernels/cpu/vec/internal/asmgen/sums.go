package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sums generates the loops that end in one number.
func (s set) sums() {
	s.function("Dot", "func(n int, x, y *float32) float32", "dotPortable")
	n, p := Load(Param("n"), GP64()), args("x", "y")
	total := s.lanes64("Dot", n, p, func(c chunk, disp int, sum reg.Register) {
		VFMADD231PS(c.load(p[0], disp), c.load(p[1], disp), sum)
	})
	Store(total, ReturnIndex(0))
	end()

	s.function("Dot3", "func(n int, x, y, z *float32) float32", "dot3Portable")
	n, p = Load(Param("n"), GP64()), args("x", "y", "z")
	total = s.lanes64("Dot3", n, p, func(c chunk, disp int, sum reg.Register) {
		x := c.load(p[0], disp)
		VMULPS(c.load(p[1], disp), x, x)
		VFMADD231PS(c.load(p[2], disp), x, sum)
	})
	Store(total, ReturnIndex(0))
	end()

	s.sumSquares()

	s.function("Max", "func(n int, x *float32) float32", "maxPortable for a multiple of the number of lanes, at least one")
	n, p = Load(Param("n"), GP64()), args("x")
	largest := s.register()
	VMOVUPS(Mem{Base: p[0]}, largest)
	loop := s.prefix + "MaxLoop"
	Label(loop)
	VMAXPS(Mem{Base: p[0]}, largest, largest)
	ADDQ(Imm(uint64(4*s.lanes)), p[0])
	SUBQ(Imm(uint64(s.lanes)), n)
	JNZ(LabelRef(loop))
	Store(s.halve(largest, VMAXPS), ReturnIndex(0))
	end()
}

// lanes64 sums over n elements in 64 lanes and adds the lanes pairwise, as the
// comment of package vec says. body adds a register's worth of elements, disp
// bytes after the pointers, to sum.
func (s set) lanes64(name string, n reg.Register, pointers []reg.Register, body func(c chunk, disp int, sum reg.Register)) reg.Register {
	sums := make([]reg.Register, 64/s.lanes)
	for i := range sums {
		sums[i] = s.zero()
	}
	loop, tail, done := s.prefix+name+"Loop", s.prefix+name+"Tail", s.prefix+name+"Done"
	Label(loop)
	CMPQ(n, Imm(64))
	JLT(LabelRef(tail))
	for i, sum := range sums {
		body(chunk{set: s}, 4*s.lanes*i, sum)
	}
	for _, p := range pointers {
		ADDQ(U32(256), p)
	}
	SUBQ(Imm(64), n)
	JMP(LabelRef(loop))
	Label(tail)
	for i, sum := range sums {
		part := tail + string(rune('A'+i))
		CMPQ(n, Imm(uint64(s.lanes)))
		JLT(LabelRef(part))
		body(chunk{set: s}, 4*s.lanes*i, sum)
		SUBQ(Imm(uint64(s.lanes)), n)
		if i < len(sums)-1 {
			next := part + "Next"
			JMP(LabelRef(next))
			Label(part)
			TESTQ(n, n)
			JZ(LabelRef(done))
			body(chunk{set: s, mask: s.maskFor(n)}, 4*s.lanes*i, sum)
			JMP(LabelRef(done))
			Label(next)
		} else {
			Label(part)
			TESTQ(n, n)
			JZ(LabelRef(done))
			body(chunk{set: s, mask: s.maskFor(n)}, 4*s.lanes*i, sum)
		}
	}
	Label(done)
	for half := len(sums) / 2; half > 0; half /= 2 {
		for i := range half {
			VADDPS(sums[i+half], sums[i], sums[i])
		}
	}
	return s.halve(sums[0], VADDPS)
}

// halve combines the lanes of v pairwise, the upper half with the lower, until
// one is left.
func (s set) halve(v reg.Register, op func(...Op)) reg.Register {
	y := v.(reg.VecVirtual).AsY()
	if s.wide() {
		upper := YMM()
		VEXTRACTF64X4(U8(1), v, upper)
		op(upper, y, y)
	}
	x, upper := v.(reg.VecVirtual).AsX(), XMM()
	VEXTRACTF128(U8(1), y, upper)
	op(upper, x, x)
	VMOVHLPS(x, x, upper)
	op(upper, x, x)
	VMOVSHDUP(x, upper)
	op(upper, x, x)
	return x
}

// zero allocates a register and clears it.
func (s set) zero() reg.Register {
	r := s.register()
	if s.wide() {
		VPXORD(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
	return r
}

// sumSquares generates the sum in float64, which has 32 lanes.
func (s set) sumSquares() {
	s.function("SumSquares", "func(n int, x *float32) float64", "sumSquaresPortable for a multiple of 32 elements, at least one")
	n, p := Load(Param("n"), GP64()), Load(Param("x"), GP64())
	per := s.lanes / 2 // float64 in a register
	sums := make([]reg.Register, 32/per)
	for i := range sums {
		sums[i] = s.zero()
	}
	loop := s.prefix + "SumSquaresLoop"
	Label(loop)
	for i, sum := range sums {
		v := s.register()
		VCVTPS2PD(Mem{Base: p, Disp: 4 * per * i}, v)
		VFMADD231PD(v, v, sum)
	}
	ADDQ(Imm(128), p)
	SUBQ(Imm(32), n)
	JNZ(LabelRef(loop))
	for half := len(sums) / 2; half > 0; half /= 2 {
		for i := range half {
			VADDPD(sums[i+half], sums[i], sums[i])
		}
	}
	y := sums[0].(reg.VecVirtual).AsY()
	if s.wide() {
		upper := YMM()
		VEXTRACTF64X4(U8(1), sums[0], upper)
		VADDPD(upper, y, y)
	}
	x, upper := sums[0].(reg.VecVirtual).AsX(), XMM()
	VEXTRACTF128(U8(1), y, upper)
	VADDPD(upper, x, x)
	VUNPCKHPD(x, x, upper)
	VADDPD(upper, x, x)
	Store(x, ReturnIndex(0))
	end()
}
