package score

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"millrace/schemas"
)

// fixed gives the same reward to all.
type fixed struct {
	schemas.Reward
	err error
}

func (f fixed) Score(_ context.Context, t schemas.Trajectory) (schemas.Reward, error) {
	f.Trajectory = t
	return f.Reward, f.err
}

func TestSum(t *testing.T) {
	tests := fixed{Reward: schemas.Reward{Value: 1, Passed: []string{"A"}, FailedTests: []string{"B"}, Output: "log", Cached: true}}
	like := fixed{Reward: schemas.Reward{Value: 0.5}}
	stopped := errors.New("stopped")
	trajectory := schemas.Trajectory{ID: "t"}
	for _, c := range []struct {
		name  string
		parts []Part
		want  schemas.Reward
		err   error
	}{
		{"one", []Part{{"tests", 1, tests}}, schemas.Reward{Value: 1, Passed: []string{"A"}, FailedTests: []string{"B"}, Output: "log", Cached: true,
			Parts: []schemas.RewardPart{{Name: "tests", Value: 1, Weight: 1}}}, nil},
		// 0.25 * 0.5 + 2 * 1
		{"two", []Part{{"like", 0.25, like}, {"tests", 2, tests}}, schemas.Reward{Value: 2.125, Passed: []string{"A"}, FailedTests: []string{"B"}, Output: "log",
			Parts: []schemas.RewardPart{{Name: "like", Value: 0.5, Weight: 0.25}, {Name: "tests", Value: 1, Weight: 2}}}, nil},
		{"negative weight", []Part{{"like", -1, like}}, schemas.Reward{Value: -0.5, Parts: []schemas.RewardPart{{Name: "like", Value: 0.5, Weight: -1}}}, nil},
		{"a part fails", []Part{{"tests", 1, tests}, {"like", 1, fixed{Reward: schemas.Reward{Failure: "no gold patch"}}}}, schemas.Reward{Failure: "like: no gold patch"}, nil},
		{"stopped", []Part{{"tests", 1, fixed{err: stopped}}}, schemas.Reward{}, stopped},
	} {
		sum, err := NewSum(c.parts...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sum.Score(t.Context(), trajectory)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.err == nil {
			c.want.Trajectory = trajectory
		}
		if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(schemas.Reward{}, "Duration"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestSumRefuses(t *testing.T) {
	for want, parts := range map[string][]Part{
		"no part": nil, "no name": {{"", 1, nil}}, "earlier one": {{"a", 1, nil}, {"a", 1, nil}}, "not 0": {{"a", 0, nil}}, "weight NaN": {{"a", math.NaN(), nil}},
	} {
		if _, err := NewSum(parts...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", parts, err, want)
		}
	}
}

func TestByCommand(t *testing.T) {
	c := ByCommand{Command{Line: `grep -q '"recorded":null' && echo 0.75`, Timeout: time.Minute}}
	r, err := c.Score(t.Context(), schemas.Trajectory{ID: "t", Termination: schemas.Finished})
	if err != nil || r.Value != 0.75 || r.Failure != "" {
		t.Errorf("%+v, %v", r, err)
	}
}
