package advantage

import (
	"math"
	"math/rand/v2"
	"testing"

	"millrace/schemas"
)

// randomGroup is a group of up to 9 with every kind of member, some missing, whose
// rewards have the given size.
func randomGroup(rng *rand.Rand, size float64) []schemas.Member {
	n := int32(1 + rng.IntN(9))
	var members []schemas.Member
	for rollout := range n {
		reward := size * float64(rng.IntN(5)-1) / 2
		switch rng.IntN(8) {
		case 0:
			members = append(members, failed("g", rollout, n))
		case 1:
			members = append(members, excluded("g", rollout, n, reward, rng.IntN(2) == 0))
		case 2: // missing
		default:
			members = append(members, lengthened(rollout, n, reward, 2+rng.IntN(9)))
		}
	}
	return members
}

// FuzzAssign states what holds for every group, estimator and switch:
//
//   - each member leaves once, as a valid sample, and no number in it is NaN or
//     infinite; a letter accompanies what is not finite and nothing else;
//   - the reward of a sample is the one that it counted with, untouched by penalties;
//   - what does not weigh has advantage 0;
//   - moving the trajectories to other rollouts of the group moves their advantages
//     with them;
//   - adding a constant to all rewards changes no advantage, where at least two weigh
//     and none is masked (a masked one counts with 0, whatever its reward).
func FuzzAssign(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, 1., uint8(seed))
	}
	f.Add(uint64(3), 1e308, uint8(4))
	f.Add(uint64(5), 1e-310, uint8(12))
	f.Fuzz(func(t *testing.T, seed uint64, size float64, choice uint8) {
		if math.IsNaN(size) || math.IsInf(size, 0) {
			t.Skip()
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		c := Config{Estimator: Names()[int(choice)%len(Names())], ExcludeEqual: choice&64 != 0}
		if choice&128 != 0 {
			c.Overlong = Overlong{Max: 8, Buffer: 4}
		}
		members := randomGroup(rng, size)
		samples, letters := Assign(c, members)
		if len(samples) != len(members) {
			t.Fatalf("%d of %d members leave", len(samples), len(members))
		}
		notFinite := 0
		for i, s := range samples {
			if err := s.Validate(); err != nil {
				t.Error(err)
			}
			m := members[i]
			if want := m.Reward.Value; s.Reward != want && !math.IsInf(want, 0) && !(m.Excluded != "" && m.Counts && s.Reward == 0) {
				t.Errorf("%s: reward %v was recorded as %v", s.ID, want, s.Reward)
			}
			if s.Weight == 0 && s.Advantage != 0 {
				t.Errorf("%s does not weigh and has advantage %v", s.ID, s.Advantage)
			}
			if s.Excluded == NotFinite {
				notFinite++
			}
		}
		if len(letters) != notFinite {
			t.Errorf("%d letters, %d samples excluded as not finite", len(letters), notFinite)
		}
		if !(math.Abs(size) <= 100) { // beyond, a constant is lost in the reward
			return
		}

		order := rng.Perm(len(members))
		moved := make([]schemas.Member, len(members))
		weighing, masked := 0, false
		for i, m := range members {
			if m.Counts {
				weighing++
				masked = masked || m.Excluded != ""
			}
			m.Reward.Trajectory.Rollout = members[order[i]].Reward.Trajectory.Rollout
			moved[order[i]] = m
		}
		again, _ := Assign(c, moved)
		for i := range samples {
			if !near(again[order[i]].Advantage, samples[i].Advantage, 1e-9) {
				t.Errorf("%s: advantage %v, and %v at another place of its group", samples[i].ID, samples[i].Advantage, again[order[i]].Advantage)
			}
		}
		if weighing < 2 || masked || size != 0 && math.Abs(size) < 1e-3 { // a shift would swallow the rewards' distance
			return
		}
		for i := range moved {
			if moved[i].Reward.Failure == "" {
				moved[i].Reward.Value += .75
			}
		}
		shifted, _ := Assign(c, moved)
		for i := range again {
			// A sum of nine numbers below 1e3 rounds at 1e-13, and a deviation is 1e-4
			// or more where it is not 0.
			if !near(shifted[i].Advantage, again[i].Advantage, 1e-8) {
				t.Errorf("%s: a shift of all rewards takes advantage %v to %v", again[i].ID, again[i].Advantage, shifted[i].Advantage)
			}
		}
	})
}
