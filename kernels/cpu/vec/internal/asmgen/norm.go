package main

import (
	. "github.com/mmcloughlin/avo/build"
)

// norm generates the second passes of RMSNorm and of its gradient.
func (s set) norm() {
	s.function("Normalize", "func(n int, dst, x, weight *float32, r float32)", "normalizePortable")
	r := s.scalar("r")
	n, p := Load(Param("n"), GP64()), args("dst", "x", "weight")
	s.each("Normalize", n, p, func(c chunk) {
		x := c.load(p[1], 0)
		VMULPS(r, x, x)
		VMULPS(c.load(p[2], 0), x, x)
		c.store(x, p[0], 0)
	})
	end()

	s.function("NormalizeBackward", "func(n int, dx, dWeight, d, x, weight *float32, r, mean float32)", "normalizeBackwardPortable")
	r = s.scalar("r")
	mean := s.scalar("mean")
	n, p = Load(Param("n"), GP64()), args("dx", "dWeight", "d", "x", "weight")
	s.each("NormalizeBackward", n, p, func(c chunk) {
		dWeight, d, x, weight := c.load(p[1], 0), c.load(p[2], 0), c.load(p[3], 0), c.load(p[4], 0)
		xr := s.register()
		VMULPS(r, x, xr)
		VFMADD231PS(d, xr, dWeight)
		VMULPS(d, weight, weight)
		VFNMADD231PS(mean, x, weight)
		VMULPS(r, weight, weight)
		c.store(dWeight, p[1], 0)
		c.store(weight, p[0], 0)
	})
	end()
}
