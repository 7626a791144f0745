package schemas

import (
	"os"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
)

func TestMain(m *testing.M) { os.Exit(ptest.MainRetWithDefault(m, "prism")) }

// TestBeamCoders sends a row of each type through a reshuffle, which encodes and
// decodes it in the runner.
func TestBeamCoders(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	through(s.Scope("Task"), exampleTasks())
	through(s.Scope("Trajectory"), exampleTrajectories())
	through(s.Scope("Reward"), exampleRewards())
	through(s.Scope("Sample"), exampleSamples())
	through(s.Scope("Update"), exampleUpdates())
	through(s.Scope("DeadLetter"), exampleDeadLetters())
	through(s.Scope("PolicyVersion"), examplePolicyVersions())
	ptest.RunAndValidate(t, p)
}

func through[T any](s beam.Scope, rows []T) {
	passert.Equals(s, beam.Reshuffle(s, beam.CreateList(s, rows)), beam.CreateList(s, rows))
}

func TestBeamCoderRefusesTwoRows(t *testing.T) {
	frame, err := Updates.Encode(exampleUpdates()...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeUpdate(frame); ReasonOf(err) != Corrupt {
		t.Errorf("an element of two rows: error %v", err)
	}
}
