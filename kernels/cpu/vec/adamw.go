package vec

// AdamWStep are the constants of one optimizer step.
type AdamWStep struct {
	LearningRate, Beta1, Beta2, Epsilon, WeightDecay float32
	// GradScale multiplies every gradient first (clipping, averaging).
	GradScale float32
	// Correction1 and Correction2 are 1/(1-Beta1^t) and 1/(1-Beta2^t), with t
	// counted from 1.
	Correction1, Correction2 float32
}

// AdamW applies one step of AdamW (Loshchilov & Hutter 2019, arXiv:1711.05101)
// to weights w with gradients g and moments m and v:
//
//	h = g[i]*GradScale
//	m[i] = Beta1*m[i] + (1-Beta1)*h
//	v[i] = Beta2*v[i] + (1-Beta2)*h*h
//	w[i] -= LearningRate * (m[i]*Correction1/(sqrt(v[i]*Correction2)+Epsilon) + WeightDecay*w[i])
func AdamW(w, g, m, v []float32, s AdamWStep) {
	n := len(w)
	same(len(g), n)
	same(len(m), n)
	same(len(v), n)
	if n > 0 {
		active.adamW(n, &w[0], &g[0], &m[0], &v[0], s.GradScale, s.Beta1, 1-s.Beta1, s.Beta2, 1-s.Beta2,
			s.Correction1, s.Correction2, s.Epsilon, s.LearningRate, s.WeightDecay)
	}
}
