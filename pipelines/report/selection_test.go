package report

import (
	"math/rand/v2"
	"slices"
	"testing"

	"millrace/schemas"
)

func TestSelectionDoesNotDependOnOrder(t *testing.T) {
	var rewards []schemas.Reward
	for i := range int64(10) {
		solved, failed := exampleTrajectory(i, true), exampleTrajectory(i, false)
		failed.Trajectory.ID += "x"
		lost := exampleTrajectory(i, false)
		lost.Trajectory.ID, lost.Failure = lost.Trajectory.ID+"lost", "disk full"
		if i != 0 {
			rewards = append(rewards, solved)
		}
		if i != 9 {
			rewards = append(rewards, failed)
		}
		rewards = append(rewards, lost)
	}
	want := []string{"r/0/textwrap#0.0x", "r/1/textwrap#0.0", "r/8/textwrap#0.0x", "r/9/textwrap#0.0"}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		rng.Shuffle(len(rewards), func(i, j int) { rewards[i], rewards[j] = rewards[j], rewards[i] })
		var s Selection
		for _, r := range rewards {
			s.Add(r)
		}
		if got := ids(s.Trajectories()); !slices.Equal(got, want) {
			t.Fatalf("picked %q, want %q", got, want)
		}
	}
}

func TestSelectionOfFew(t *testing.T) {
	var s Selection
	if got := s.Trajectories(); len(got) != 0 {
		t.Errorf("nothing was added and %q picked", ids(got))
	}
	s.Add(exampleTrajectory(3, true))
	if got := ids(s.Trajectories()); !slices.Equal(got, []string{"r/3/textwrap#0.0"}) {
		t.Errorf("one was added and %q picked", got)
	}
}

func ids(rewards []schemas.Reward) []string {
	var out []string
	for _, r := range rewards {
		out = append(out, r.Trajectory.ID)
	}
	return out
}
