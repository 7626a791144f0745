package advantage

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
)

// DAPO's own numbers (arXiv:2503.14476, section 4.1): a maximum of 20,480 tokens, of
// which the last 4,096 are the buffer.
func TestOverlongPenalty(t *testing.T) {
	dapo := Overlong{Max: 20480, Buffer: 4096}
	for _, c := range []struct {
		o       Overlong
		sampled int
		want    float64
	}{
		{dapo, 0, 0}, {dapo, 16384, 0}, {dapo, 16385, -1. / 4096}, {dapo, 18432, -.5}, {dapo, 20480, -1}, {dapo, 30000, -1},
		{Overlong{}, 1 << 30, 0},
		{Overlong{Max: 10, Buffer: 10}, 3, -.3}, // all of it is buffer
	} {
		if got := c.o.Penalty(c.sampled); got != c.want {
			t.Errorf("%+v: %d tokens cost %v, want %v", c.o, c.sampled, got, c.want)
		}
	}
	for _, o := range []Overlong{{Max: 10, Buffer: 11}, {Max: -1}, {Max: 1, Buffer: -1}} {
		c := DefaultConfig()
		if c.Overlong = o; c.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// lengthened returns a member that sampled so many tokens.
func lengthened(rollout, size int32, reward float64, sampled int) schemas.Member {
	m := weighing("g", rollout, size, reward)
	t := &m.Reward.Trajectory
	for len(t.Tokens) < 2+sampled {
		t.Tokens, t.LossMask = append(t.Tokens, 5), append(t.LossMask, true)
		t.LogProbs, t.Versions = append(t.LogProbs, -1), append(t.Versions, 4)
	}
	t.Steps[0].TokenEnd = int32(len(t.Tokens))
	return m
}

// Of three that solved the task with 4, 7 and 10 tokens, where 6 are free and 8 are
// the most, the estimator sees 1, .5 and 0: centered .5, 0, -.5. The samples keep the
// reward 1. What was not sampled by the policy costs nothing, and a masked member,
// whose reward is 0, is not punished on top.
func TestOverlongPunishesTheSampledTokens(t *testing.T) {
	c := Config{Estimator: "centered", Overlong: Overlong{Max: 8, Buffer: 2}}
	samples, letters := Assign(c, []schemas.Member{lengthened(0, 4, 1, 4), lengthened(1, 4, 1, 7), lengthened(2, 4, 1, 10)})
	if d := cmp.Diff([]float64{.5, 0, -.5}, advantages(samples)); d != "" || len(letters) != 0 {
		t.Errorf("advantages -want +got:\n%s, letters %v", d, letters)
	}
	for _, s := range samples {
		if s.Reward != 1 {
			t.Errorf("%s: recorded reward %v, want 1", s.ID, s.Reward)
		}
	}
	masked := lengthened(1, 2, 0, 10)
	masked.Reward.Trajectory.Termination, masked.Excluded = schemas.StepLimit, string(schemas.StepLimit)
	samples, _ = Assign(c, []schemas.Member{lengthened(0, 2, 1, 4), masked})
	if d := cmp.Diff([]float64{.5, -.5}, advantages(samples)); d != "" {
		t.Errorf("beside a masked member -want +got:\n%s", d)
	}
}

// The control shuffles what the estimator sees, penalties included: no member's own
// length may reach its advantage.
func TestShuffleHandsPenaltiesOutToo(t *testing.T) {
	c := Config{Estimator: "centered", Overlong: Overlong{Max: 8, Buffer: 2}}
	var members []schemas.Member
	for i := range int32(8) {
		members = append(members, lengthened(i, 8, 1, int(4+i)))
	}
	plain, _ := Assign(c, members)
	c.Shuffle = true
	shuffled, _ := Assign(c, members)
	want := advantages(plain)
	shuffle(want, "g")
	if d := cmp.Diff(want, advantages(shuffled)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
