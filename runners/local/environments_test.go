package local

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/pipelines/dataset"
	"millrace/pipelines/journal"
	"millrace/schemas"
	"millrace/transforms/environment"
	"millrace/transforms/environment/frozenlake"
	"millrace/transforms/environment/lights"
)

// TestTextEnvironments: each configuration of a text environment in docs trains from
// random weights through the whole pipeline, without a sandbox; its rewards are what
// a replay of the records gives, and a second run takes the very same steps.
func TestTextEnvironments(t *testing.T) {
	for file, e := range map[string]environment.Environment{"frozenlake.yaml": frozenlake.Environment{}, "lights.yaml": lights.Environment{}} {
		t.Run(file, func(t *testing.T) {
			first, second := t.TempDir(), t.TempDir()
			rewards := trainSmall(t, file, first)
			if len(rewards) != 3*4*4 {
				t.Errorf("%d rewards, want those of 3 steps of 4 groups of 4", len(rewards))
			}
			solved := 0.0
			for _, r := range rewards {
				if r.Failure != "" {
					t.Errorf("%s: %s", r.Trajectory.ID, r.Failure)
					continue
				}
				_, missed, err := environment.Replay(e, r.Trajectory)
				if err != nil {
					t.Errorf("%s: %v", r.Trajectory.ID, err)
				}
				if (len(missed) == 0) != (r.Value == 1) {
					t.Errorf("%s has reward %v, and misses %v when it is played again", r.Trajectory.ID, r.Value, missed)
				}
				solved += r.Value
			}
			t.Logf("%v of %d solved", solved, len(rewards))
			record, err := journal.Read(first)
			if err != nil {
				t.Fatal(err)
			}
			if len(record.Steps) != 3 || len(record.Evaluations) != 2 {
				t.Errorf("the journal has %d steps and %d evaluations, want 3 and 2", len(record.Steps), len(record.Evaluations))
			}
			for _, s := range record.Steps {
				if s.Metrics["rollout/turns"] < 16 || s.Metrics["sandbox/commands/count"] != 0 {
					t.Errorf("step %d: %v turns in environments, %v commands in sandboxes; want at least one of each rollout, and none",
						s.Number, s.Metrics["rollout/turns"], s.Metrics["sandbox/commands/count"])
				}
			}
			trainSmall(t, file, second)
			if diff := cmp.Diff(stepDigests(t, first), stepDigests(t, second)); diff != "" {
				t.Errorf("weights of each step (-first run +second):\n%s", diff)
			}
		})
	}
}

// trainSmall runs a configuration of docs for three small steps and returns what was
// rewarded.
func trainSmall(t *testing.T, file, dir string) []schemas.Reward {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := Train(context.Background(), TrainOptions{
		Dir: dir, ConfigFile: filepath.Join("..", "..", "docs", "configs", file), Out: out,
		Set: []string{
			"name=small", "steps=3", "groups_per_step=4", "group_size=4", "evaluate.every=0", "policy.random.layers=1",
			"evaluate.sets=[{split: test, tasks: 4, samples: 1}]",
		},
	}); err != nil {
		t.Fatal(err)
	}
	files, err := dataset.Find(filepath.Join(dir, "data"), "trajectories")
	if err != nil {
		t.Fatal(err)
	}
	var rewards []schemas.Reward
	for _, f := range files {
		if err := dataset.Read(t.Context(), f, schemas.Rewards, func(r schemas.Reward) error {
			rewards = append(rewards, r)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return rewards
}

// stepDigests are those of the weights after each step.
func stepDigests(t *testing.T, dir string) (out []string) {
	t.Helper()
	for _, u := range ledgerOf(t, dir) {
		out = append(out, u.WeightsDigest)
	}
	return out
}
