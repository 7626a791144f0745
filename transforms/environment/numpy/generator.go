package numpy

import (
	"math"
	"math/bits"
)

// Generator is numpy.random.Generator over PCG64: a 128-bit linear congruential
// generator with the output function XSL-RR (O'Neill 2014, PCG: A Family of Simple
// Fast Space-Efficient Statistically Good Algorithms, section 6.3.3). It is not
// safe for concurrent use. That of math/rand/v2 has another output function, and no
// stream of its own for each seed.
type Generator struct {
	high, low       uint64 // the state
	incHigh, incLow uint64
	// half is the upper half of the last 64 bits when only the lower was given out.
	half    uint32
	hasHalf bool
}

// The multiplier of the congruence.
const (
	multHigh = 2549297995355413924
	multLow  = 4865540595714422341
)

// NewGenerator is numpy.random.Generator(numpy.random.PCG64(seed)), and the first
// result of gymnasium.utils.seeding.np_random(seed).
func NewGenerator(seed uint64) *Generator {
	w := seedWords(seed)
	word := func(i int) uint64 { return uint64(w[2*i+1])<<32 | uint64(w[2*i]) }
	startHigh, startLow := word(0), word(1)
	streamHigh, streamLow := word(2), word(3)
	g := &Generator{
		incHigh: streamHigh<<1 | streamLow>>63,
		incLow:  streamLow<<1 | 1,
	}
	g.step()
	var carry uint64
	g.low, carry = bits.Add64(g.low, startLow, 0)
	g.high, _ = bits.Add64(g.high, startHigh, carry)
	g.step()
	return g
}

// step is state = state*mult + inc, modulo 2^128.
func (g *Generator) step() {
	high, low := bits.Mul64(g.low, multLow)
	high += g.high*multLow + g.low*multHigh
	var carry uint64
	g.low, carry = bits.Add64(low, g.incLow, 0)
	g.high, _ = bits.Add64(high, g.incHigh, carry)
}

func (g *Generator) next64() uint64 {
	g.step()
	return bits.RotateLeft64(g.high^g.low, -int(g.high>>58))
}

func (g *Generator) next32() uint32 {
	if g.hasHalf {
		g.hasHalf = false
		return g.half
	}
	v := g.next64()
	g.half, g.hasHalf = uint32(v>>32), true
	return uint32(v)
}

// Float64 is random(): uniform in [0, 1), a multiple of 2^-53.
func (g *Generator) Float64() float64 { return float64(g.next64()>>11) * 0x1p-53 }

// IntN is integers(0, n) (Lemire 2019, arXiv:1805.10941). n must be positive and
// less than 2^32; for 1 nothing is drawn.
func (g *Generator) IntN(n int) int {
	if n <= 0 || n > math.MaxUint32 {
		panic("numpy: IntN wants 1 to 2^32 - 1")
	}
	if n == 1 {
		return 0
	}
	span := uint64(n)
	product := uint64(g.next32()) * span
	if rest := product & math.MaxUint32; rest < span {
		threshold := (1<<32 - span) % span
		for rest < threshold {
			product = uint64(g.next32()) * span
			rest = product & math.MaxUint32
		}
	}
	return int(product >> 32)
}

// Bernoulli is choice of two items with probabilities p and 1 - p: true for the
// first. p is in [0, 1].
func (g *Generator) Bernoulli(p float64) bool {
	// choice divides the cumulated probabilities by their sum, which need not be 1
	// to the last bit.
	rest := 1 - p
	return g.Float64() < p/(p+rest)
}
