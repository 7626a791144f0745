package score

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
	"millrace/transforms/environment"
)

// counter is an environment that reaches "two" with its second "up".
type counter struct{}

func (counter) Start(task schemas.Task) (environment.Episode, error) {
	if task.Parameters != "{}" {
		return nil, errors.New("bad parameters")
	}
	return &count{}, nil
}

type count struct{ n int }

func (*count) Prompt() (system, user string) { return "count", "0" }
func (*count) Actions() []string             { return []string{"up"} }

func (c *count) Step(turn string) environment.Answer {
	if turn != "up" {
		return environment.Answer{Observation: "what?"}
	}
	c.n++
	return environment.Answer{Action: "up", Observation: strings.Repeat("1", c.n), Done: c.n == 2}
}

func (c *count) Reached() []string {
	if c.n == 2 {
		return []string{"two"}
	}
	return nil
}

var arithmetic = Replay{Environments: map[string]environment.Environment{"counter": counter{}}}

func counted(termination schemas.Termination, steps ...schemas.Step) schemas.Trajectory {
	return schemas.Trajectory{
		ID: "run/0/counter#0.0", GroupID: "run/0/counter", Steps: steps, Termination: termination,
		Task: schemas.Task{ID: "counter", Environment: "counter", Parameters: "{}", FailToPass: []string{"two"}},
	}
}

var (
	one  = schemas.Step{Action: "up", Tool: "up", Observation: "1"}
	two  = schemas.Step{Action: "up", Tool: "up", Observation: "11"}
	what = schemas.Step{Action: "UP", Observation: "what?"}
	cut  = schemas.Step{Action: "up"}
)

// TestReplay: the value is the fresh episode's, whatever the record claims, and a
// record that does not agree with it is a failure and no reward.
func TestReplay(t *testing.T) {
	tombstone := counted(schemas.Failed)
	tombstone.Failure = "no policy"
	unknown := counted(schemas.Finished, one, two)
	unknown.Task.Environment = "chess"
	aimless := counted(schemas.Finished, one, two)
	aimless.Task.FailToPass = nil
	broken := counted(schemas.Finished, one, two)
	broken.Task.Parameters = "{"
	for _, c := range []struct {
		name       string
		trajectory schemas.Trajectory
		value      float64
		failure    string
	}{
		{"solved", counted(schemas.Finished, one, what, two), 1, ""},
		{"out of steps", counted(schemas.StepLimit, what, one), 0, ""},
		{"context full behind an answer", counted(schemas.ContextFull, one), 0, ""},
		{"context full within a turn", counted(schemas.ContextFull, one, cut), 0, ""},
		{"no turn", counted(schemas.TimeLimit), 0, ""},
		{"a turn without answer", counted(schemas.StepLimit, one, cut), 0, "replaying turn 2"},
		{"a cut turn that is not the last", counted(schemas.ContextFull, cut, two), 0, "replaying turn 1"},
		{"end made up", counted(schemas.Finished, one), 0, "that the episode has ended is false"},
		{"end denied", counted(schemas.StepLimit, one, two), 0, "that the episode has ended is true"},
		{"answer made up", counted(schemas.Finished, two), 0, "replaying turn 1"},
		{"action made up", counted(schemas.Finished, one, schemas.Step{Action: "UP", Tool: "up", Observation: "11"}), 0, "replaying turn 2"},
		{"a turn behind the end", counted(schemas.Finished, one, two, two), 0, "replaying turn 3"},
		{"tombstone", tombstone, 0, "rollout: no policy"},
		{"unknown environment", unknown, 0, `unknown text environment "chess"`},
		{"no goal", aimless, 0, "names no goal"},
		{"refused parameters", broken, 0, "bad parameters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := arithmetic.Score(t.Context(), c.trajectory)
			if err != nil {
				t.Fatal(err)
			}
			if r.Value != c.value || (r.Failure != "") != (c.failure != "") || !strings.Contains(r.Failure, c.failure) {
				t.Errorf("value %v, failure %q; want %v, %q", r.Value, r.Failure, c.value, c.failure)
			}
			if c.failure != "" {
				return
			}
			want := [2][]string{{"two"}, nil}
			if c.value == 0 {
				want = [2][]string{nil, {"two"}}
			}
			if diff := cmp.Diff(want, [2][]string{r.Passed, r.FailedTests}); diff != "" {
				t.Errorf("goals reached and missed (-want +got):\n%s", diff)
			}
			if again := Recorded(r); again.Value != r.Value || again.Failure != "" {
				t.Errorf("the recorded goals give %v, %q; the replay gave %v", again.Value, again.Failure, r.Value)
			}
		})
	}
}

// TestVerdict: a task decides by what it holds, and not by what is configured.
func TestVerdict(t *testing.T) {
	v := Verdict{Goals: arithmetic, Tests: fixed{Reward: schemas.Reward{Value: 0.25}}}
	for want, trajectory := range map[float64]schemas.Trajectory{
		1:    counted(schemas.Finished, one, two),
		0.25: {ID: "run/0/clamp#0.0", Task: schemas.Task{ID: "clamp"}},
	} {
		if r, err := v.Score(t.Context(), trajectory); err != nil || r.Value != want {
			t.Errorf("task %s has reward %v, error %v; want %v", trajectory.Task.ID, r.Value, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Score(ctx, counted(schemas.Finished, one, two)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}
