package rollout

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
	"millrace/transforms/environment"
	"millrace/transforms/environment/frozenlake"
)

// lake is an order of a FrozenLake map:
//
//	F S H
//	F F H
//	G H H
func lake(t *testing.T) schemas.Task {
	t.Helper()
	task, err := environment.Task(frozenlake.Name, "3x3", "train",
		frozenlake.Parameters{Seed: 7, Size: 3, P: 0.7, Reach: 8, Protocol: frozenlake.Compact}, frozenlake.GoalReached)
	if err != nil {
		t.Fatal(err)
	}
	task.Iteration, task.Rollouts = 3, 2
	return task
}

// walker is an agent that knows FrozenLake and has no sandbox.
func walker(t *testing.T, change func(*Config), turns ...turn) (*Agent, *script) {
	t.Helper()
	cfg := config()
	cfg.Environments = map[string]environment.Environment{frozenlake.Name: frozenlake.Environment{}}
	if change != nil {
		change(&cfg)
	}
	return agent(t, cfg, nil, turns...)
}

// TestGame: each way in which a rollout in a text environment ends, and that its
// record is what the scorer plays again.
func TestGame(t *testing.T) {
	left, down, up, hm := turn{say: "left"}, turn{say: "I go down"}, turn{say: "up"}, turn{say: "hm"}
	for _, c := range []struct {
		name    string
		change  func(*Config)
		turns   []turn
		want    schemas.Termination
		actions []string
		reached []string
	}{
		{"goal", nil, []turn{left, down, hm, down}, schemas.Finished, []string{"left", "down", "", "down"}, []string{frozenlake.GoalReached}},
		{"hole", nil, []turn{{say: "right"}}, schemas.Finished, []string{"right"}, nil},
		{"steps", func(c *Config) { c.Limits.Steps = 3 }, []turn{up, up, up}, schemas.StepLimit, []string{"up", "up", "up"}, nil},
		{"malformed", nil, []turn{up, hm, hm, hm}, schemas.Malformed, []string{"up", "", "", ""}, nil},
		{"a bump is an action", nil, []turn{hm, hm, up, hm, hm, hm}, schemas.Malformed, []string{"", "", "up", "", "", ""}, nil},
		// The first prompt has 60 tokens, the turn 3, and the next prompt 46.
		{"context behind an observation", func(c *Config) { c.Limits.Context, c.Limits.Turn = 105, 100 }, []turn{up}, schemas.ContextFull, []string{"up"}, nil},
		{"context within a turn", func(c *Config) { c.Limits.Context, c.Limits.Turn = 105, 100 },
			[]turn{{say: "up " + strings.Repeat("and up ", 20)}}, schemas.ContextFull, []string{""}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, p := walker(t, c.change, c.turns...)
			got, err := a.Run(t.Context(), lake(t), "run", 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := got.Validate(); err != nil {
				t.Error(err)
			}
			if got.Termination != c.want || got.Patch != "" {
				t.Errorf("ended by %q with patch %q, want %q and none", got.Termination, got.Patch, c.want)
			}
			var actions []string
			for _, s := range got.Steps {
				actions = append(actions, s.Tool)
			}
			if diff := cmp.Diff(c.actions, actions); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(p.sessions[0].tokens, got.Tokens); diff != "" {
				t.Errorf("tokens (-session +trajectory):\n%s", diff)
			}
			reached, _, err := environment.Replay(frozenlake.Environment{}, got)
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(c.reached, reached); diff != "" {
				t.Errorf("goals reached when played again (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGameConversation is a whole rollout as the policy has it.
func TestGameConversation(t *testing.T) {
	a, _ := walker(t, nil, turn{say: "hm", open: true}, turn{say: "left"}, turn{say: "down"}, turn{say: "2"})
	got, err := a.Run(t.Context(), lake(t), "run", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := "<|im_start|>system\n Walk to G<|im_end|>\n" +
		"<|im_start|>user\n Or Odr Odd Oddr Gddl<|im_end|>\n" +
		"<|im_start|>assistant\nhm<|im_end|>\n" +
		"<|im_start|>user\n same Or Odr Odd Oddr Gddl<|im_end|>\n" +
		"<|im_start|>assistant\nleft<|im_end|>\n" +
		"<|im_start|>user\n Orr Odrr Oddr Oddrr Gdd<|im_end|>\n" +
		"<|im_start|>assistant\ndown<|im_end|>\n" +
		"<|im_start|>user\n Ourr Orr Odr Odrr Gd<|im_end|>\n" +
		"<|im_start|>assistant\n2<|im_end|>"
	if diff := cmp.Diff(want, a.tokenizer.Decode(got.Tokens)); diff != "" {
		t.Errorf("conversation (-want +got):\n%s", diff)
	}
}

// TestHopelessTasksAreNotRetried: an environment that is not known, or that refuses
// the task, is told once, by a dead letter that says so.
func TestHopelessTasksAreNotRetried(t *testing.T) {
	unknown, refused := lake(t), lake(t)
	unknown.Environment = "chess"
	refused.Parameters = `{"size":99}`
	for message, task := range map[string]schemas.Task{`unknown text environment "chess"`: unknown, "size is 99": refused} {
		a, p := walker(t, nil)
		got, err := do(t, t.Context(), a, task, 8)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.trajectories) != 2 || len(got.letters) != 2 || len(p.sessions) != 0 {
			t.Fatalf("%d trajectories, %d dead letters, %d policy sessions; want 2, 2 and none", len(got.trajectories), len(got.letters), len(p.sessions))
		}
		for i, dead := range got.trajectories {
			letter := got.letters[i]
			if err := errors.Join(dead.Validate(), letter.Validate()); err != nil {
				t.Error(err)
			}
			if dead.Termination != schemas.Failed || letter.Reason != schemas.Invalid || letter.Attempts != 1 || !strings.Contains(letter.Message, message) {
				t.Errorf("termination %q, reason %q after %d attempts: %q; want failed, invalid, one attempt, %q",
					dead.Termination, letter.Reason, letter.Attempts, letter.Message, message)
			}
		}
	}
}
