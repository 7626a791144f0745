package cpu

import "math"

// rope holds cos and sin of position*theta^(-2i/D) for i < D/2, [positions, D/2]
// each. Like Hugging Face it rounds the frequency and the angle to float32
// before taking the cosine: at position 2000 that moves an angle by 1e-4, which
// an exact angle would show as a difference.
type rope struct {
	half      int
	frequency []float32
	cos, sin  []float32
}

func newRope(headDim int, theta float64) *rope {
	r := &rope{half: headDim / 2}
	for i := range r.half {
		r.frequency = append(r.frequency, float32(math.Pow(theta, -2*float64(i)/float64(headDim))))
	}
	return r
}

// ensure makes positions [0,n) available.
func (r *rope) ensure(n int) {
	for p := len(r.cos) / r.half; p < n; p++ {
		for _, f := range r.frequency {
			angle := float64(float32(p) * f)
			r.cos = append(r.cos, float32(math.Cos(angle)))
			r.sin = append(r.sin, float32(math.Sin(angle)))
		}
	}
}

// rotate turns x [D] to position p: pairs are (i, i+D/2).
func (r *rope) rotate(x []float32, p int) {
	cos, sin := r.cos[p*r.half:(p+1)*r.half], r.sin[p*r.half:(p+1)*r.half]
	lo, hi := x[:r.half], x[r.half:2*r.half]
	for i, c := range cos {
		a, b := lo[i], hi[i]
		lo[i] = a*c - b*sin[i]
		hi[i] = b*c + a*sin[i]
	}
}

// rotateBack is rotate's inverse, which is also its transpose: the backward
// pass.
func (r *rope) rotateBack(x []float32, p int) {
	cos, sin := r.cos[p*r.half:(p+1)*r.half], r.sin[p*r.half:(p+1)*r.half]
	lo, hi := x[:r.half], x[r.half:2*r.half]
	for i, c := range cos {
		a, b := lo[i], hi[i]
		lo[i] = a*c + b*sin[i]
		hi[i] = b*c - a*sin[i]
	}
}
