package filter

import (
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"millrace/schemas"
)

func TestMain(m *testing.M) { ptest.Main(m) }

func init() {
	register.Function1x1(summary)
}

// summary tells what the transform may change of a member and what it must not.
func summary(m schemas.Member) string {
	counts := "out"
	if m.Counts {
		counts = "in"
	}
	return m.Reward.Trajectory.ID + " " + m.Excluded + " " + counts + " @" + m.Source.Topic
}

// TestNothingVanishes: as many members leave as entered, each with its source.
func TestNothingVanishes(t *testing.T) {
	var members []schemas.Member
	for id, termination := range map[string]schemas.Termination{
		"a": schemas.Finished, "b": schemas.StepLimit, "c": schemas.Failed,
	} {
		r := schemas.Reward{Trajectory: schemas.Trajectory{
			ID: id, GroupID: "g", Run: "r", Termination: termination,
			Task:   schemas.Task{ID: "t", Rollouts: 3},
			Tokens: []int32{1, 2}, LossMask: []bool{false, true}, LogProbs: []float32{0, -1}, Versions: []int32{-1, 0},
		}}
		if termination == schemas.Failed {
			r.Failure, r.Trajectory.Failure = "rollout: no sandbox", "no sandbox"
		}
		members = append(members, schemas.Member{Reward: r, Source: schemas.Position{Topic: "rewarded"}})
	}
	p, s := beam.NewPipelineWithRoot()
	out := Filter(s, Config{Mode: Compact}, beam.CreateList(s, members))
	passert.EqualsList(s, beam.ParDo(s, summary, out), []string{
		"a  in @rewarded",
		"b steps in @rewarded",
		"c failed out @rewarded",
	})
	ptest.RunAndValidate(t, p)
}
