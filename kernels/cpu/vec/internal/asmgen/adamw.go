package main

import (
	. "github.com/mmcloughlin/avo/build"
)

// adamW generates the optimizer step. The constants come one by one, since a
// struct would tie the generator to package vec.
func (s set) adamW() {
	s.function("AdamW", "func(n int, w, grad, m, v *float32, "+
		"gradScale, beta1, rest1, beta2, rest2, correction1, correction2, epsilon, learningRate, weightDecay float32)", "adamWPortable")
	n, p := Load(Param("n"), GP64()), args("w", "grad", "m", "v")
	s.each("AdamW", n, p, func(c chunk) {
		w, g, m, v := c.load(p[0], 0), c.load(p[1], 0), c.load(p[2], 0), c.load(p[3], 0)
		t := s.register()
		VMULPS(s.scalar("gradScale"), g, g)
		// m = beta1*m + rest1*g
		VMULPS(s.scalar("rest1"), g, t)
		VFMADD132PS(s.scalar("beta1"), t, m)
		c.store(m, p[2], 0)
		// v = beta2*v + rest2*g*g
		VMULPS(s.scalar("rest2"), g, t)
		VMULPS(g, t, t)
		VFMADD132PS(s.scalar("beta2"), t, v)
		c.store(v, p[3], 0)
		// w -= learningRate * (m*correction1 / (sqrt(v*correction2) + epsilon) + weightDecay*w)
		VMULPS(s.scalar("correction2"), v, v)
		VSQRTPS(v, v)
		VADDPS(s.scalar("epsilon"), v, v)
		VMULPS(s.scalar("correction1"), m, m)
		VDIVPS(v, m, m)
		VFMADD231PS(s.scalar("weightDecay"), w, m)
		VFNMADD231PS(s.scalar("learningRate"), m, w)
		c.store(w, p[0], 0)
	})
	end()
}
