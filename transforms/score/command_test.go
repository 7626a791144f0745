package score

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace/schemas"
)

func commanded(t *testing.T, line string, r schemas.Reward) schemas.Reward {
	t.Helper()
	out, err := Command{Line: line, Timeout: 20 * time.Second}.Score(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Validate(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCommand(t *testing.T) {
	r := schemas.Reward{Trajectory: trajectory(aTask("wrong\n"), patchA("wrong", "right")), Value: 1, Passed: []string{"TestHidden"}}
	r.Trajectory.Steps = []schemas.Step{{Tool: "finish", Action: "<function=finish>"}}
	for line, want := range map[string]float64{
		"echo 0.25":                                 0.25,
		"cat >/dev/null; printf -- -3e-1":           -0.3,
		`grep -c '"patch":"diff --git a/a.go'`:      1,
		`grep -c '"tests_passed":\["TestHidden"\]'`: 1,
		`grep -o '"tool":"finish"' | wc -l`:         1,
		`grep -c hidden_test.go || true`:            0, // hidden tests are not its business
	} {
		if got := commanded(t, line, r); got.Value != want || got.Failure != "" {
			t.Errorf("%s: %v %q, want %v", line, got.Value, got.Failure, want)
		}
	}
}

// TestNoFailureBecomesACommandsReward (invariant 1).
func TestNoFailureBecomesACommandsReward(t *testing.T) {
	r := schemas.Reward{Trajectory: trajectory(aTask("wrong\n"), "")}
	for line, want := range map[string]string{
		"echo 1; echo broken >&2; exit 3": "exit status 3: broken",
		"true":                            `printed "", not one finite number`,
		"echo 1 2":                        `printed "1 2"`,
		"echo NaN":                        "NaN",
		"echo 1e999":                      "1e999",
		"no-such-program-of-mine":         "exit status 127",
		"yes 1 | head -c 100000":          "not one finite number",
	} {
		if got := commanded(t, line, r); got.Value != 0 || !strings.Contains(got.Failure, want) {
			t.Errorf("%s: %v %q, want a failure that says %q", line, got.Value, got.Failure, want)
		}
	}
	r.Trajectory.Termination, r.Trajectory.Failure, r.Failure = schemas.Failed, "no sandbox", "rollout: no sandbox"
	if got := commanded(t, "echo 1", r); got.Failure != "rollout: no sandbox" {
		t.Errorf("a tombstone: %+v", got)
	}
}

// TestCommandDeadline: what a command started does not outlive its deadline, and is
// not waited for.
func TestCommandDeadline(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	line := "(sleep 2; touch " + mark + ") & wait; echo 1"
	r, err := Command{Line: line, Timeout: 100 * time.Millisecond}.Score(t.Context(), schemas.Reward{Trajectory: trajectory(aTask("x\n"), "")})
	if err != nil || !strings.Contains(r.Failure, "did not end within 100ms") {
		t.Errorf("%+v, %v", r, err)
	}
	time.Sleep(2500 * time.Millisecond)
	if _, err := os.Stat(mark); err == nil {
		t.Error("the command's child lived on")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	if _, err := (Command{Line: "echo 1", Timeout: time.Second}).Score(ctx, schemas.Reward{}); !errors.Is(err, stopped) {
		t.Errorf("stopped: %v", err)
	}
}
