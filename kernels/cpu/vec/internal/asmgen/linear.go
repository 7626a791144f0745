package main

import (
	. "github.com/mmcloughlin/avo/build"
)

// linear generates the elementwise loops that only add and multiply.
func (s set) linear() {
	s.function("Axpy", "func(n int, alpha float32, x, y *float32)", "axpyPortable")
	alpha, n, p := s.scalar("alpha"), Load(Param("n"), GP64()), args("x", "y")
	s.each("Axpy", n, p, func(c chunk) {
		y := c.load(p[1], 0)
		VFMADD231PS(c.load(p[0], 0), alpha, y)
		c.store(y, p[1], 0)
	})
	end()

	s.function("Scale", "func(n int, alpha float32, x *float32)", "scalePortable")
	alpha, n, p = s.scalar("alpha"), Load(Param("n"), GP64()), args("x")
	s.each("Scale", n, p, func(c chunk) {
		x := c.load(p[0], 0)
		VMULPS(alpha, x, x)
		c.store(x, p[0], 0)
	})
	end()

	s.function("Add", "func(n int, dst, x, y *float32)", "addPortable")
	n, p = Load(Param("n"), GP64()), args("dst", "x", "y")
	s.each("Add", n, p, func(c chunk) {
		x, y := c.load(p[1], 0), c.load(p[2], 0)
		VADDPS(y, x, x)
		c.store(x, p[0], 0)
	})
	end()
}
