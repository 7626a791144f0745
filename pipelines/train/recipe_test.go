package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/pipelines/settings"
	"millrace/schemas"
	"millrace/transforms/filter"
)

// TestOldConfigurationLoads: what a run directory held before recipes had overrides
// means what it meant, and is written as it was.
func TestOldConfigurationLoads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("name: old\nseed: 7\nrecipe: deepswe\nsteps: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Default()
	if err := settings.Load(path, nil, &c); err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	f, a := c.Selection()
	if f.Mode != filter.CompactPublished || a.Estimator != "leave-one-out-published" || a.ExcludeEqual || c.MaxDraws() != 1 {
		t.Errorf("filter %+v, advantage %+v", f, a)
	}
	text, err := settings.Print(c)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "algorithm") {
		t.Errorf("a configuration without overrides is written with them:\n%s", text)
	}
}

// TestOverridesOfOneKey: a flag sets one value, 0 too, leaves the others to the recipe
// and follows it when the recipe changes.
func TestOverridesOfOneKey(t *testing.T) {
	c := Default()
	if err := settings.Load("", []string{"recipe=grpo", "algorithm.kl_coefficient=0", "algorithm.truncated_is=2"}, &c); err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	r, err := c.recipe()
	if err != nil || r.Objective.Loss.KLCoefficient != 0 || r.Objective.Loss.TruncatedIS != 2 || r.Estimator != "standardized" {
		t.Errorf("%+v, %v", r, err)
	}
	if err := settings.Load("", []string{"recipe=dr-grpo", "algorithm.truncated_is=null"}, &c); err != nil {
		t.Fatal(err)
	}
	r, err = c.recipe()
	if err != nil || r.Objective.Loss.TruncatedIS != 0 || r.Estimator != "centered" {
		t.Errorf("with another recipe: %+v, %v", r, err)
	}
	if err := settings.Load("", []string{"algorithm.clip_hihg=0.3"}, &c); err == nil || !strings.Contains(err.Error(), "did you mean algorithm.clip_high?") {
		t.Errorf("a misspelt key: %v", err)
	}
}

// TestResolvedPrintsTheRecipe: every value that the recipe decides is printed and reads
// back as the same run; the ledger's hash is of that, however it was said.
func TestResolvedPrintsTheRecipe(t *testing.T) {
	c := Default()
	c.Recipe = "swe-rl"
	text, err := settings.Print(c.Resolved())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ratio: sequence", "clip_high: 0.2", "truncated_is: 0", "max_draws: 1", "aggregation: sequence-mean", "reward: similarity"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var read Config
	if err := settings.Load(path, nil, &read); err != nil {
		t.Fatal(err)
	}
	short, err := Hash(c)
	if err != nil {
		t.Fatal(err)
	}
	if long, err := Hash(read); err != nil || long != short {
		t.Errorf("hash %s, read back %s, %v", short, long, err)
	}
	c.Algorithm.ClipHigh = new(0.3)
	if other, err := Hash(c); err != nil || other == short {
		t.Errorf("another clip has the same hash, %v", err)
	}
}

func TestRecipeNamesTheReward(t *testing.T) {
	c := Default()
	c.Recipe = "swe-rl"
	reward, err := c.rewarder(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := reward.Score(t.Context(), schemas.Trajectory{ID: "t", Termination: schemas.Malformed, Task: schemas.Task{
		ID: "k", Files: []schemas.File{{Path: "a", Content: "1\n"}}, GoldPatch: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n",
	}})
	if err != nil || r.Failure != "" || r.Value != -1 {
		t.Errorf("a malformed answer has reward %+v, %v; SWE-RL gives -1", r, err)
	}
}

func TestRecipeIsValidated(t *testing.T) {
	for set, want := range map[string]string{
		"recipe=ppo":                           `recipe is "ppo"`,
		"algorithm.estimator=median":           `estimator is "median"`,
		"algorithm.surrogate=clipped":          `surrogate is "clipped"`,
		"algorithm.overlong_buffer=1.5":        "overlong_buffer is 1.5",
		"algorithm={max_draws: 2}":             "every group of one has equal rewards",
		"algorithm={dual_clip: 0.5, ratio: x}": "ratio",
	} {
		c := Default()
		c.GroupSize = 1
		if err := settings.Load("", []string{set}, &c); err != nil {
			t.Fatal(err)
		}
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}

// TestReplacements: those of an iteration are other tasks than its own and than one
// another, more of them begin with fewer, and iterations have orders of their own.
func TestReplacements(t *testing.T) {
	tasks := numbered(21)
	firsts := map[string]bool{}
	for iteration := range int64(40) {
		seen := map[string]bool{}
		for _, task := range batchTasks(tasks, 7, iteration, 4) {
			seen[task.ID] = true
		}
		all := replacements(tasks, 7, iteration, 4, 17)
		for _, task := range all {
			if seen[task.ID] {
				t.Errorf("iteration %d has task %s twice", iteration, task.ID)
			}
			seen[task.ID] = true
		}
		if len(seen) != 21 {
			t.Errorf("iteration %d has %d tasks", iteration, len(seen))
		}
		for i, task := range replacements(tasks, 7, iteration, 4, 5) {
			if task.ID != all[i].ID {
				t.Errorf("iteration %d: replacement %d is %s of 5 and %s of 17", iteration, i, task.ID, all[i].ID)
			}
		}
		firsts[all[0].ID] = true
	}
	if len(firsts) < 8 { // 40 draws of one task in 21
		t.Errorf("only %d tasks are ever the first to stand in", len(firsts))
	}
}
