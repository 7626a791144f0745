package filter

import (
	"strings"
	"testing"

	"millrace/schemas"
)

// Every termination in every mode: reason to exclude, and whether it counts.
func TestDecide(t *testing.T) {
	type verdict struct {
		excluded string
		counts   bool
	}
	in := verdict{"", true}
	for _, tt := range []struct {
		termination schemas.Termination
		failure     string
		want        map[string]verdict
	}{
		{schemas.Finished, "", map[string]verdict{Compact: in, CompactPublished: in, None: in}},
		{schemas.Malformed, "", map[string]verdict{Compact: in, CompactPublished: in, None: in}},
		{schemas.ContextFull, "", map[string]verdict{Compact: {"context", true}, CompactPublished: {"context", true}, None: in}},
		{schemas.StepLimit, "", map[string]verdict{Compact: {"steps", true}, CompactPublished: {"steps", true}, None: in}},
		{schemas.TimeLimit, "", map[string]verdict{Compact: {"time", false}, CompactPublished: {"time", true}, None: in}},
		// DeepSWE does not mask ENV_TIMEOUT (facts: termination reasons of rLLM v0.1).
		{schemas.ActionLimit, "", map[string]verdict{Compact: {"action_time", false}, CompactPublished: in, None: in}},
		{schemas.Failed, "sandbox", map[string]verdict{Compact: {"failed", false}, CompactPublished: {"failed", false}, None: {"failed", false}}},
		{schemas.Finished, "disk full", map[string]verdict{Compact: {"unscored", false}, CompactPublished: {"unscored", false}, None: {"unscored", false}}},
		// A limit and no reward: it must not count with reward 0.
		{schemas.StepLimit, "disk full", map[string]verdict{Compact: {"unscored", false}, CompactPublished: {"unscored", false}, None: {"unscored", false}}},
	} {
		for _, mode := range Modes() {
			r := schemas.Reward{Failure: tt.failure, Trajectory: schemas.Trajectory{Termination: tt.termination}}
			excluded, counts := Decide(Config{Mode: mode}, r)
			if got := (verdict{excluded, counts}); got != tt.want[mode] {
				t.Errorf("%s with failure %q in mode %s: got %+v, want %+v", tt.termination, tt.failure, mode, got, tt.want[mode])
			}
		}
	}
}

// TestNoFailureBecomesAReward: whatever the value, termination and mode, a
// reward with a failure neither weighs nor counts.
func TestNoFailureBecomesAReward(t *testing.T) {
	for _, mode := range Modes() {
		for _, termination := range []schemas.Termination{schemas.Finished, schemas.ContextFull, schemas.StepLimit,
			schemas.TimeLimit, schemas.ActionLimit, schemas.Malformed, schemas.Failed, "unheard of"} {
			for _, value := range []float64{0, 1, -1} {
				r := schemas.Reward{Failure: "x", Value: value, Trajectory: schemas.Trajectory{Termination: termination}}
				if excluded, counts := Decide(Config{Mode: mode}, r); excluded == "" || counts {
					t.Errorf("%s/%s/%v: excluded %q, counts %v", mode, termination, value, excluded, counts)
				}
			}
		}
	}
}

func TestConfigNamesTheModes(t *testing.T) {
	err := Config{Mode: "compakt"}.Validate()
	if err == nil {
		t.Fatal("an unknown mode was accepted")
	}
	for _, want := range []string{`"compakt"`, "compact", "compact-published", "none"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name %s", err, want)
		}
	}
	for _, mode := range Modes() {
		if err := (Config{Mode: mode}).Validate(); err != nil {
			t.Errorf("mode %s: %v", mode, err)
		}
	}
}
