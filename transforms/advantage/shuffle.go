package advantage

import (
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"
)

// shuffle permutes the rewards of a group. The permutation is a function of the
// group's id, so a replay gives the same.
func shuffle(rewards []float64, groupID string) {
	rng := rand.New(rand.NewPCG(xxhash.Sum64String(groupID), 0))
	rng.Shuffle(len(rewards), func(i, j int) { rewards[i], rewards[j] = rewards[j], rewards[i] })
}
