package advantage

import (
	"slices"
	"testing"
)

func TestShuffleKeepsTheRewardsOfAGroup(t *testing.T) {
	moved := 0
	for _, group := range []string{"a", "b", "c", "d"} {
		rewards := []float64{0, 1, 2, 3, 4, 5, 6, 7}
		shuffle(rewards, group)
		again := []float64{0, 1, 2, 3, 4, 5, 6, 7}
		shuffle(again, group)
		if !slices.Equal(rewards, again) {
			t.Errorf("group %s: %v, then %v", group, rewards, again)
		}
		for i, r := range rewards {
			if r != float64(i) {
				moved++
			}
		}
		slices.Sort(rewards)
		if !slices.Equal(rewards, []float64{0, 1, 2, 3, 4, 5, 6, 7}) {
			t.Errorf("group %s: rewards are now %v", group, rewards)
		}
	}
	if moved < 16 { // of 32; a permutation that moves nothing is no control
		t.Errorf("only %d rewards moved", moved)
	}
}
