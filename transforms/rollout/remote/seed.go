package remote

// requestSeed is the seed of a request: that of the session and the length of its
// sequence. A server starts its random numbers afresh with each request, so one
// seed for all would give every turn the same ones. Servers take int64.
func requestSeed(seed uint64, position int) int64 {
	return int64(seed ^ scatter(uint64(position)))
}

// scatter is the output function of SplitMix64 (Steele, Lea & Flood 2014).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
