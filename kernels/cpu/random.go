package cpu

// uniform returns a number in [0,1) with 53 random bits that depends on seed
// and position alone: SplitMix64 (Steele, Lea, Flood 2014) started at a mix of
// the two and advanced once.
func uniform(seed uint64, position int) float64 {
	x := mix(seed + golden*(uint64(position)+1))
	return float64(mix(x+golden)>>11) / (1 << 53)
}

// golden is SplitMix64's increment, 2^64 divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

// mix is SplitMix64's output function.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
