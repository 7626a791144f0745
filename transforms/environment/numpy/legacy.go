package numpy

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mathext/prng"
)

// Legacy is numpy.random.RandomState, which numpy.random.seed makes anew: the
// Mersenne Twister MT19937. It is not safe for concurrent use.
type Legacy struct{ source *prng.MT19937 }

// NewLegacy is numpy.random.seed(seed).
func NewLegacy(seed uint32) Legacy {
	source := prng.NewMT19937()
	source.Seed(uint64(seed))
	return Legacy{source}
}

// Int is one number of randint(low, high): uniform in [low, high), by drawing as
// many bits as the width needs until they are within it. high must be above low,
// by less than 2^32; where it is low + 1 nothing is drawn.
func (l Legacy) Int(low, high int) int {
	if high <= low || high-low > math.MaxUint32 {
		panic("numpy: Int wants 1 to 2^32 - 1 numbers")
	}
	most := uint32(high - low - 1)
	if most == 0 {
		return low
	}
	mask := uint32(1)<<bits.Len32(most) - 1
	for {
		if v := l.source.Uint32() & mask; v <= most {
			return low + int(v)
		}
	}
}

// Uniform is one number of uniform(low, high).
func (l Legacy) Uniform(low, high float64) float64 {
	a, b := l.source.Uint32()>>5, l.source.Uint32()>>6
	unit := (float64(a)*(1<<26) + float64(b)) / (1 << 53)
	scaled := (high - low) * unit // a statement of its own: a fused multiply-add would round once
	return low + float64(scaled)
}
