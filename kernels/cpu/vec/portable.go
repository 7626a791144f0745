package vec

import (
	"math"
	"unsafe"
)

// portable is the specification of the other variants and the fallback where
// there is no assembly. Conversions of products to float32 keep the compiler
// from fusing them into sums, so that the bits are the same on every
// architecture.
var portable = variant{
	name: "portable",
	axpy: func(n int, alpha float32, xp, yp *float32) {
		x, y := row(xp, n), row(yp, n)
		for i, v := range x {
			y[i] += float32(alpha * v)
		}
	},
	scale: func(n int, alpha float32, xp *float32) {
		x := row(xp, n)
		for i := range x {
			x[i] *= alpha
		}
	},
	add: func(n int, dp, xp, yp *float32) {
		dst, x, y := row(dp, n), row(xp, n), row(yp, n)
		for i := range dst {
			dst[i] = x[i] + y[i]
		}
	},
	dot: func(n int, xp, yp *float32) float32 {
		x, y := row(xp, n), row(yp, n)
		return sumLanes(n, func(i int) float32 { return x[i] * y[i] })
	},
	dot3: func(n int, xp, yp, zp *float32) float32 {
		x, y, z := row(xp, n), row(yp, n), row(zp, n)
		return sumLanes(n, func(i int) float32 { return x[i] * y[i] * z[i] })
	},
	sumSquares: func(n int, xp *float32) float64 {
		var lanes [sumSquaresLanes]float64
		for i, v := range row(xp, n) {
			lanes[i%sumSquaresLanes] += float64(float64(v) * float64(v))
		}
		return halve(lanes[:])
	},
	largest: func(n int, xp *float32) float32 {
		m := negativeInfinity
		for _, v := range row(xp, n) {
			m = max(m, v)
		}
		return m
	},
	exp: func(n int, dp, xp *float32) {
		dst := row(dp, n)
		for i, v := range row(xp, n) {
			dst[i] = exp(v)
		}
	},
	expSum: func(n int, dp, xp *float32, shift float32) float32 {
		dst, x := row(dp, n), row(xp, n)
		return sumLanes(n, func(i int) float32 {
			dst[i] = exp(x[i] - shift)
			return dst[i]
		})
	},
	sumExp: func(n int, xp *float32, shift float32) float32 {
		x := row(xp, n)
		return sumLanes(n, func(i int) float32 { return exp(x[i] - shift) })
	},
	siluGate: func(n int, dp, gp, up *float32) {
		dst, gate, ups := row(dp, n), row(gp, n), row(up, n)
		for i, g := range gate {
			dst[i] = g * sigmoid(g) * ups[i]
		}
	},
	siluGateBackward: func(n int, dGatep, dUpp, gp, up, dp *float32) {
		dGate, dUp, gate, ups, d := row(dGatep, n), row(dUpp, n), row(gp, n), row(up, n), row(dp, n)
		for i := range d {
			s := sigmoid(gate[i])
			silu := gate[i] * s
			slope := s + float32(silu*(1-s))
			dGate[i], dUp[i] = d[i]*ups[i]*slope, d[i]*silu
		}
	},
	normalize: func(n int, dp, xp, wp *float32, r float32) {
		dst, x, weight := row(dp, n), row(xp, n), row(wp, n)
		for i, v := range x {
			dst[i] = v * r * weight[i]
		}
	},
	normalizeBackward: func(n int, dxp, dWeightp, dp, xp, wp *float32, r, g float32) {
		dx, dWeight, d, x, weight := row(dxp, n), row(dWeightp, n), row(dp, n), row(xp, n), row(wp, n)
		for i := range d {
			di, xi := d[i], x[i]
			dWeight[i] += float32(di * float32(xi*r))
			dx[i] = r * (float32(di*weight[i]) - float32(xi*g))
		}
	},
	adamW: func(n int, wp, gp, mp, vp *float32,
		gradScale, beta1, rest1, beta2, rest2, correction1, correction2, epsilon, learningRate, weightDecay float32) {
		w, g, m, v := row(wp, n), row(gp, n), row(mp, n), row(vp, n)
		for i := range w {
			h := g[i] * gradScale
			m[i] = float32(beta1*m[i]) + float32(rest1*h)
			v[i] = float32(beta2*v[i]) + float32(rest2*h*h)
			root := float32(math.Sqrt(float64(v[i] * correction2)))
			update := m[i] * correction1 / (root + epsilon)
			w[i] -= float32(learningRate * (update + float32(weightDecay*w[i])))
		}
	},
}

// row is the n elements from p on.
func row(p *float32, n int) []float32 { return unsafe.Slice(p, n) }

// sumLanes adds term(0), ..., term(n-1) in the order of the package comment.
func sumLanes(n int, term func(i int) float32) float32 {
	var lanes [64]float32
	for i := range n {
		lanes[i%len(lanes)] += term(i)
	}
	return halve(lanes[:])
}

// halve adds lanes pairwise, the upper half onto the lower, until one is left.
func halve[F float32 | float64](lanes []F) F {
	for n := len(lanes) / 2; n > 0; n /= 2 {
		for i := range n {
			lanes[i] += lanes[i+n]
		}
	}
	return lanes[0]
}

func exp(x float32) float32 { return float32(math.Exp(float64(x))) }

// sigmoid is exact to the last bit or two also where exp(-x) overflows.
func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }
