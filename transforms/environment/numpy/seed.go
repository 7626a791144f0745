package numpy

// Constants of NumPy's SeedSequence, which are O'Neill's for seed_seq_fe
// (https://www.pcg-random.org/posts/developing-a-seed_seq-alternative.html).
const (
	poolWords = 4

	mixInit = 0x43b0d7e5
	mixMult = 0x931e8875
	outInit = 0x8b51f9dd
	outMult = 0x58f38ded

	mixLeft  = 0xca01f9dd
	mixRight = 0x4973f715
	mixShift = 16
)

// seedWords are the first eight words that SeedSequence(seed) generates: the seed
// is spread over a pool of four words, each of which then depends on all of it.
func seedWords(seed uint64) [8]uint32 {
	var pool [poolWords]uint32
	entropy := [poolWords]uint32{uint32(seed), uint32(seed >> 32)}
	hash := uint32(mixInit)
	scramble := func(v uint32) uint32 {
		v ^= hash
		hash *= mixMult
		v *= hash
		return v ^ v>>mixShift
	}
	for i := range pool {
		pool[i] = scramble(entropy[i])
	}
	for from := range pool {
		for to := range pool {
			if from == to {
				continue
			}
			v := mixLeft*pool[to] - mixRight*scramble(pool[from])
			pool[to] = v ^ v>>mixShift
		}
	}
	var words [8]uint32
	hash = outInit
	for i := range words {
		v := pool[i%poolWords] ^ hash
		hash *= outMult
		v *= hash
		words[i] = v ^ v>>mixShift
	}
	return words
}
