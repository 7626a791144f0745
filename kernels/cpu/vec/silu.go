package vec

// SiLUGate is the gated activation of SwiGLU (Shazeer 2020, arXiv:2002.05202):
//
//	dst[i] = gate[i]*sigmoid(gate[i]) * up[i]
func SiLUGate(dst, gate, up []float32) {
	same(len(dst), len(gate))
	same(len(dst), len(up))
	if len(dst) > 0 {
		active.siluGate(len(dst), &dst[0], &gate[0], &up[0])
	}
}

// SiLUGateBackward gives the gradients of [SiLUGate] from d, that of its result:
//
//	s = sigmoid(gate[i])
//	dUp[i]   = d[i] * gate[i]*s
//	dGate[i] = d[i] * up[i] * (s + gate[i]*s*(1-s))
func SiLUGateBackward(dGate, dUp, gate, up, d []float32) {
	n := len(d)
	same(len(dGate), n)
	same(len(dUp), n)
	same(len(gate), n)
	same(len(up), n)
	if n > 0 {
		active.siluGateBackward(n, &dGate[0], &dUp[0], &gate[0], &up[0], &d[0])
	}
}
