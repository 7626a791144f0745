package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// activations generates the gated activation and its gradient.
func (s set) activations() {
	s.function("SiLUGate", "func(n int, dst, gate, up *float32)", "siluGatePortable")
	n, p := Load(Param("n"), GP64()), args("dst", "gate", "up")
	s.each("SiLUGate", n, p, func(c chunk) {
		gate := c.load(p[1], 0)
		VMULPS(s.sigmoid(gate), gate, gate)
		VMULPS(c.load(p[2], 0), gate, gate)
		c.store(gate, p[0], 0)
	})
	end()

	s.function("SiLUGateBackward", "func(n int, dGate, dUp, gate, up, d *float32)", "siluGateBackwardPortable")
	n, p = Load(Param("n"), GP64()), args("dGate", "dUp", "gate", "up", "d")
	s.each("SiLUGateBackward", n, p, func(c chunk) {
		gate, up, d := c.load(p[2], 0), c.load(p[3], 0), c.load(p[4], 0)
		sigmoid := s.sigmoid(gate)
		silu, slope := s.register(), s.register()
		VMULPS(sigmoid, gate, silu)
		// slope = s*(1 + gate*(1-s)) = s + silu*(1-s)
		VMOVUPS(constant("one", 1), slope)
		VSUBPS(sigmoid, slope, slope)
		VFMADD213PS(sigmoid, silu, slope)
		VMULPS(d, silu, silu)
		VMULPS(d, up, up)
		VMULPS(slope, up, up)
		c.store(silu, p[1], 0)
		c.store(up, p[0], 0)
	})
	end()
}

// sigmoid is 1/(1+exp(-x)) in a new register.
func (s set) sigmoid(x reg.Register) reg.Register {
	one, y := s.register(), s.register()
	if s.wide() {
		VPXORD(bits("signBit", 1<<31), x, y)
	} else {
		VXORPS(bits("signBit", 1<<31), x, y)
	}
	s.exp(y)
	VMOVUPS(constant("one", 1), one)
	VADDPS(one, y, y)
	VDIVPS(y, one, y)
	return y
}
