package advantage

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
)

func advantages(samples []schemas.Sample) (a []float64) {
	for _, s := range samples {
		a = append(a, s.Advantage)
	}
	return a
}

func frameOf(t *testing.T, samples []schemas.Sample) []byte {
	t.Helper()
	b, err := schemas.Samples.Encode(samples...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAssignFillsTheSample(t *testing.T) {
	got, letters := Assign(Config{Estimator: "leave-one-out"},
		[]schemas.Member{weighing("g", 1, 3, 0), weighing("g", 0, 3, 1)})
	if len(letters) != 0 {
		t.Fatalf("dead letters: %+v", letters)
	}
	sample := func(rollout int32, reward, advantage float64) schemas.Sample {
		m := weighing("g", rollout, 3, reward).Reward.Trajectory
		return schemas.Sample{
			ID: m.ID, GroupID: "g", TaskID: "task", Run: "run", Iteration: 4, Rollout: rollout,
			Tokens: m.Tokens, LossMask: m.LossMask, LogProbs: m.LogProbs, Versions: m.Versions,
			Reward: reward, Advantage: advantage, Weight: 1, Termination: schemas.Finished,
			GroupMembers: 2, GroupWeighing: 2, GroupSize: 3, Turns: 1, Tools: []string{"finish"},
		}
	}
	if d := cmp.Diff([]schemas.Sample{sample(0, 1, 1), sample(1, 0, -1)}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestFilteredTrajectoryDoesNotWeigh (invariant 7): whatever a filtered member
// holds, the others' samples are the same, and its own has weight and advantage 0.
func TestFilteredTrajectoryDoesNotWeigh(t *testing.T) {
	for _, name := range Names() {
		var want []byte
		for _, reward := range []float64{0, 1, -1e300, math.MaxFloat64} {
			m := excluded("g", 1, 3, reward, false)
			m.Reward.Trajectory.LogProbs[2] = float32(reward / 1e300)
			samples, letters := Assign(Config{Estimator: name},
				[]schemas.Member{weighing("g", 0, 3, 1), m, weighing("g", 2, 3, 0)})
			if len(letters) != 0 || len(samples) != 3 {
				t.Fatalf("%s: %d samples, letters %v", name, len(samples), letters)
			}
			if f := samples[1]; f.Weight != 0 || f.Advantage != 0 || f.Excluded != "steps" {
				t.Errorf("%s: the filtered sample is %+v", name, f)
			}
			if samples[0].GroupWeighing != 2 || samples[0].GroupMembers != 3 {
				t.Errorf("%s: %d of %d weigh, want 2 of 3", name, samples[0].GroupWeighing, samples[0].GroupMembers)
			}
			others := frameOf(t, []schemas.Sample{samples[0], samples[2]})
			if want == nil {
				want = others
			}
			if !bytes.Equal(others, want) {
				t.Errorf("%s: reward %v of a filtered member changes the others", name, reward)
			}
		}
		pair, _ := Assign(Config{Estimator: name}, []schemas.Member{weighing("g", 0, 3, 1), weighing("g", 2, 3, 0)})
		three, _ := Assign(Config{Estimator: name},
			[]schemas.Member{weighing("g", 0, 3, 1), excluded("g", 1, 3, 1, false), weighing("g", 2, 3, 0)})
		if pair[0].Advantage != three[0].Advantage || pair[1].Advantage != three[2].Advantage {
			t.Errorf("%s: advantages %v without and %v with the filtered member", name, advantages(pair), advantages(three))
		}
	}
}

// Reference: DeepSWE as published: masked rollouts stay in their group with
// reward 0, so they lower the baseline of the others, and they stay in the
// loss's denominator. Four rollouts, two solved, one failed its tests, one ran
// out of steps (and would have passed):
//
//	as published   r = 1 1 0 0: A = 1-1/3, 1-1/3, 0-2/3 = .667 .667 -.667; 4 sequences
//	left out       r = 1 1 0:   A = 1-1/2, 1-1/2, 0-1   = .5 .5 -1;        3 sequences
func TestDeepSWEMaskedRolloutsCount(t *testing.T) {
	group := func(counts bool) []schemas.Member {
		return []schemas.Member{weighing("g", 0, 4, 1), weighing("g", 1, 4, 1), weighing("g", 2, 4, 0), excluded("g", 3, 4, 1, counts)}
	}
	published, letters := Assign(Config{Estimator: "leave-one-out-published"}, group(true))
	if len(letters) != 0 {
		t.Fatal(letters)
	}
	for i, want := range []float64{2. / 3, 2. / 3, -2. / 3, -2. / 3} {
		if !near(published[i].Advantage, want, 1e-15) {
			t.Errorf("as published: advantage %d is %v, want %v", i, published[i].Advantage, want)
		}
	}
	m := published[3]
	if m.Weight != 1 || m.GroupWeighing != 4 || m.Reward != 0 {
		t.Errorf("the masked sample has weight %v and reward %v, and %d of 4 weigh", m.Weight, m.Reward, m.GroupWeighing)
	}
	if want := make([]bool, len(m.Tokens)); !cmp.Equal(m.LossMask, want) {
		t.Errorf("the masked sample trains tokens: %v", m.LossMask)
	}
	frameOf(t, published) // it keeps the contract of a sample

	out, _ := Assign(Config{Estimator: "leave-one-out"}, group(false))
	for i, want := range []float64{.5, .5, -1, 0} {
		if !near(out[i].Advantage, want, 1e-15) {
			t.Errorf("left out: advantage %d is %v, want %v", i, out[i].Advantage, want)
		}
	}
	if out[3].GroupWeighing != 3 {
		t.Errorf("left out: %d weigh, want 3", out[3].GroupWeighing)
	}
}

// The member's own slices are not touched when it is masked.
func TestMaskingCopies(t *testing.T) {
	m := excluded("g", 0, 1, 0, true)
	Assign(Config{Estimator: "centered"}, []schemas.Member{m})
	if d := cmp.Diff(excluded("g", 0, 1, 0, true), m); d != "" {
		t.Errorf("the member changed:\n%s", d)
	}
}

// TestReplayIsDeterministic (invariant 5): any order of arrival gives the same
// bits. The rewards are such that the order of summation would show.
func TestReplayIsDeterministic(t *testing.T) {
	rewards := []float64{.1, .7, 1e-3, .3, 1. / 3, .9, 1e3, .2}
	var members []schemas.Member
	for i, r := range rewards {
		members = append(members, weighing("g", int32(i), 9, r))
	}
	members = append(members, failed("g", 8, 9))
	rng := rand.New(rand.NewPCG(7, 8))
	for _, name := range Names() {
		var want []byte
		for range 50 {
			rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
			samples, _ := Assign(Config{Estimator: name}, members)
			got := frameOf(t, samples)
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("%s: another order of arrival gives other bits", name)
			}
		}
	}
}

// TestNoFailureBecomesAReward (invariant 1): a failed member is in no baseline,
// and one that claims to count is refused.
func TestNoFailureBecomesAReward(t *testing.T) {
	samples, letters := Assign(Config{Estimator: "leave-one-out"},
		[]schemas.Member{weighing("g", 0, 3, 1), weighing("g", 1, 3, 0), failed("g", 2, 3)})
	if d := cmp.Diff([]float64{1, -1, 0}, advantages(samples)); d != "" || len(letters) != 0 {
		t.Errorf("advantages: %s, letters %v", d, letters)
	}
	if s := samples[2]; s.Weight != 0 || s.Excluded != "failed" {
		t.Errorf("the tombstone's sample: %+v", s)
	}
	for name, change := range map[string]func(*schemas.Member){
		"weighs": func(m *schemas.Member) { m.Excluded, m.Counts = "", true },
		"counts": func(m *schemas.Member) { m.Counts = true },
	} {
		m := failed("g", 2, 3)
		change(&m)
		samples, letters := Assign(Config{Estimator: "leave-one-out"}, []schemas.Member{m})
		if len(samples) != 0 || len(letters) != 1 || letters[0].Reason != schemas.Invalid {
			t.Errorf("a failure that %s: samples %v, letters %v", name, samples, letters)
		}
	}
}

// TestNothingVanishes (invariant 6): each member is a sample or, if it is no
// valid member, a dead letter; GroupMembers is the number of samples.
func TestNothingVanishes(t *testing.T) {
	broken := weighing("g", 3, 6, 1)
	broken.Reward.Trajectory.LossMask = nil
	outside := weighing("g", 6, 6, 1)
	unfiltered := weighing("g", 5, 6, 1)
	unfiltered.Counts = false
	members := []schemas.Member{
		weighing("g", 0, 6, 1), excluded("g", 1, 6, 0, false), failed("g", 2, 6), broken, outside, unfiltered,
	}
	samples, letters := Assign(Config{Estimator: "centered"}, members)
	if len(samples) != 3 || len(letters) != 3 {
		t.Fatalf("%d samples and %d letters of 6 members", len(samples), len(letters))
	}
	for _, s := range samples {
		if s.GroupMembers != 3 || s.GroupSize != 6 || s.GroupWeighing != 1 {
			t.Errorf("%s: %d members, %d weigh, %d ordered; want 3, 1, 6", s.ID, s.GroupMembers, s.GroupWeighing, s.GroupSize)
		}
	}
	for _, l := range letters {
		if l.Reason != schemas.Invalid || !strings.Contains(l.Message, l.RecordID) || l.Source.Topic != "rewarded" {
			t.Errorf("letter %+v", l)
		}
		if err := l.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestNotFinite(t *testing.T) {
	for _, reward := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		samples, letters := Assign(Config{Estimator: "leave-one-out"},
			[]schemas.Member{weighing("g", 0, 3, 1), weighing("g", 1, 3, reward), weighing("g", 2, 3, 0)})
		if d := cmp.Diff([]float64{1, 0, -1}, advantages(samples)); d != "" {
			t.Errorf("reward %v: advantages -want +got:\n%s", reward, d)
		}
		if s := samples[1]; s.Weight != 0 || s.Excluded != NotFinite || s.GroupWeighing != 2 || s.GroupMembers != 3 {
			t.Errorf("reward %v: sample %+v", reward, s)
		}
		if len(letters) != 1 || letters[0].Reason != schemas.NotFinite || letters[0].RecordID != "g#1.0" ||
			!strings.Contains(letters[0].Message, "g#1.0") {
			t.Errorf("reward %v: letters %+v", reward, letters)
		}
		frameOf(t, samples)
	}
}

// Finite rewards whose advantage is out of range take the whole group out,
// each member with a letter, rather than some of it.
func TestOverflowTakesTheGroupOut(t *testing.T) {
	samples, letters := Assign(Config{Estimator: "leave-one-out"},
		[]schemas.Member{weighing("g", 0, 3, math.MaxFloat64), weighing("g", 1, 3, -math.MaxFloat64), failed("g", 2, 3)})
	if len(samples) != 3 || len(letters) != 2 {
		t.Fatalf("%d samples, %d letters; want 3, 2", len(samples), len(letters))
	}
	for _, s := range samples {
		if s.Weight != 0 || s.Advantage != 0 || s.GroupWeighing != 0 {
			t.Errorf("sample %+v", s)
		}
	}
}

func TestNoMemberCounts(t *testing.T) {
	samples, letters := Assign(Config{Estimator: "standardized"},
		[]schemas.Member{failed("g", 0, 2), excluded("g", 1, 2, 1, false)})
	if len(letters) != 0 || len(samples) != 2 {
		t.Fatalf("samples %v, letters %v", samples, letters)
	}
	for _, s := range samples {
		if s.Weight != 0 || s.Advantage != 0 || s.GroupWeighing != 0 || s.GroupMembers != 2 {
			t.Errorf("sample %+v", s)
		}
	}
}
