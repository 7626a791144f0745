// Package environmenttest is the contract of text environments as a test that each
// of them runs: what package environment says always holds, on random and hostile
// turns.
package environmenttest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
	"millrace/transforms/environment"
)

// hostile are turns that no agent should write and every agent does.
var hostile = []string{
	"", " ", "\n\n", "\x00", "\xff\xfe", "```", "``````", strings.Repeat("x", 1<<12), "<|im_end|>", "0", "-1", "99999999999999999999", "√日本",
}

// turns is the longest episode played.
const turns = 24

// Test plays each task several times. There must be tasks that are solved and
// tasks that are not: the contract says little of one outcome.
func Test(t *testing.T, e environment.Environment, tasks []schemas.Task) {
	t.Helper()
	ids := map[string]bool{}
	outcomes := map[bool]int{}
	for i, task := range tasks {
		if err := task.Validate(); err != nil {
			t.Error(err)
		}
		if ids[task.ID] {
			t.Errorf("task %s is there twice", task.ID)
		}
		ids[task.ID] = true
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		for range 3 {
			trajectory := random(t, e, task, rng)
			reached, missed, err := environment.Replay(e, trajectory)
			if err != nil {
				t.Fatalf("task %s: %v", task.ID, err)
			}
			outcomes[len(missed) == 0]++
			checkGoals(t, task, reached, missed)
			checkForged(t, e, trajectory)
		}
	}
	if outcomes[true] == 0 || outcomes[false] == 0 {
		t.Errorf("of the random episodes %d reach every goal and %d do not: want some of both", outcomes[true], outcomes[false])
	}
}

// random plays an episode of actions and of turns that are none.
func random(t *testing.T, e environment.Environment, task schemas.Task, rng *rand.Rand) schemas.Trajectory {
	t.Helper()
	return play(t, e, task, func(actions []string) string {
		if rng.IntN(4) == 0 {
			return hostile[rng.IntN(len(hostile))]
		}
		return actions[rng.IntN(len(actions))]
	})
}

// Play plays one turn over and over and replays what came of it. A task that is
// refused is skipped. It is the body of a fuzz target.
func Play(t *testing.T, e environment.Environment, task schemas.Task, turn string) {
	t.Helper()
	if _, err := e.Start(task); err != nil {
		t.Skip(err)
	}
	// A record is text: what is not UTF-8 has been replaced before it is played.
	turn = strings.ToValidUTF8(turn, "\uFFFD")
	trajectory := play(t, e, task, func([]string) string { return turn })
	if _, _, err := environment.Replay(e, trajectory); err != nil {
		t.Error(err)
	}
}

func play(t *testing.T, e environment.Environment, task schemas.Task, choose func(actions []string) string) schemas.Trajectory {
	t.Helper()
	episode, err := e.Start(task)
	if err != nil {
		t.Fatal(err)
	}
	system, user := episode.Prompt()
	if system == "" || user == "" {
		t.Errorf("task %s: a message of the prompt is empty: %q, %q", task.ID, system, user)
	}
	trajectory := schemas.Trajectory{ID: "t", Task: task, Termination: schemas.StepLimit}
	for range turns {
		actions := episode.Actions()
		if len(actions) == 0 {
			t.Fatalf("task %s: no action, and the episode goes on", task.ID)
		}
		before := episode.Reached()
		turn := choose(slices.Clone(actions))
		answer := episode.Step(turn)
		if answer.Observation == "" {
			t.Fatalf("task %s: turn %q has no answer", task.ID, turn)
		}
		if slices.Contains(actions, turn) && answer.Action == "" {
			t.Fatalf("task %s: %q is one of the actions, and was not understood", task.ID, turn)
		}
		if answer.Action == "" && (answer.Done || !slices.Equal(before, episode.Reached())) {
			t.Fatalf("task %s: turn %q was not understood, and changed the world", task.ID, turn)
		}
		trajectory.Steps = append(trajectory.Steps, schemas.Step{Action: turn, Tool: answer.Action, Observation: answer.Observation})
		if answer.Done {
			trajectory.Termination = schemas.Finished
			break
		}
	}
	return trajectory
}

func checkGoals(t *testing.T, task schemas.Task, reached, missed []string) {
	t.Helper()
	all := slices.Sorted(slices.Values(append(slices.Clone(reached), missed...)))
	if diff := cmp.Diff(slices.Sorted(slices.Values(task.FailToPass)), all); diff != "" || len(all) == 0 {
		t.Errorf("task %s: goals (-of the task +reached and missed):\n%s", task.ID, diff)
	}
}

// checkForged: a record that was changed is no longer believed.
func checkForged(t *testing.T, e environment.Environment, sound schemas.Trajectory) {
	t.Helper()
	last := len(sound.Steps) - 1
	for name, forge := range map[string]func(*schemas.Trajectory){
		"observation":  func(f *schemas.Trajectory) { f.Steps[last].Observation += "!" },
		"action":       func(f *schemas.Trajectory) { f.Steps[0].Tool += "!" },
		"end made up":  func(f *schemas.Trajectory) { f.Steps, f.Termination = f.Steps[:last], schemas.Finished },
		"end left out": func(f *schemas.Trajectory) { f.Termination = other(f.Termination) },
		"turn behind": func(f *schemas.Trajectory) {
			f.Steps = append(f.Steps, schemas.Step{Action: "x", Tool: "x", Observation: "x"})
		},
		"parameters, none": func(f *schemas.Trajectory) { f.Task.Parameters = "{}" },
	} {
		forged := sound
		forged.Steps = slices.Clone(sound.Steps)
		forge(&forged)
		if _, _, err := environment.Replay(e, forged); err == nil {
			t.Errorf("task %s: forged %s, and the replay believes it", sound.Task.ID, name)
		}
	}
}

func other(t schemas.Termination) schemas.Termination {
	if t == schemas.Finished {
		return schemas.StepLimit
	}
	return schemas.Finished
}
