package train

import (
	"strings"
	"testing"

	"millrace/pipelines/settings"
	"millrace/schemas"
)

// TestRewards: the configured parts make one reward, and what they lack is told.
func TestRewards(t *testing.T) {
	c := Default()
	err := settings.Load("", []string{`score.rewards=[{reward: similarity, weight: 0.5, name: likeness}, {reward: command, weight: 2, command: "echo 3", timeout: 1m}]`}, &c)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	reward, err := c.rewarder(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := reward.Score(t.Context(), schemas.Trajectory{ID: "t", Termination: schemas.Malformed, Task: schemas.Task{
		ID: "k", Files: []schemas.File{{Path: "a", Content: "1\n"}}, GoldPatch: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n",
	}})
	// 0.5 * -1, SWE-RL's reward of a bad format, + 2 * 3
	if err != nil || r.Failure != "" || r.Value != 5.5 || len(r.Parts) != 2 || r.Parts[0].Name != "likeness" {
		t.Errorf("%+v, %v", r, err)
	}
	for set, want := range map[string]string{
		`[{reward: tests}]`:                                              "weight 0",
		`[{reward: luck, weight: 1}]`:                                    `"luck"`,
		`[{reward: command, weight: 1}]`:                                 "a command needs both",
		`[{reward: tests, weight: 1, command: x, timeout: 1s}]`:          "no other reward has them",
		`[{reward: tests, weight: 1}, {reward: tests, weight: 2}]`:       "as an earlier one is",
		`[{reward: command, weight: 1, command: x, timeout: -1s}]`:       "a command needs both",
		`[{reward: tests, weight: 1, name: ""}, {reward: x, weight: 1}]`: "[1]",
	} {
		c := Default()
		if err := settings.Load("", []string{"score.rewards=" + set}, &c); err != nil {
			t.Fatal(err)
		}
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}
