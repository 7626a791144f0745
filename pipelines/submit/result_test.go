package submit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
)

// TestNothingVanishes (invariant 6): what entered a stage is output, dead letter
// or pending, and each once.
func TestNothingVanishes(t *testing.T) {
	at := func(offset int64) schemas.Position { return schemas.Position{Topic: "j.trajectories", Offset: offset} }
	in := held{
		rollouts: map[string]place{"g#0": {"g", "g#0.0"}, "g#1": {"g", "g#1.0"}, "h#0": {"h", "h#0.2"}, "h#1": {"h", "h#1.0"}},
		broken:   map[string]schemas.Position{"x": at(7), "y": at(8)},
	}
	out := held{rollouts: map[string]place{"g#0": {"g", "g#0.0"}, "h#0": {"h", "h#0.1"}}}
	dead := buried{
		// One that is output too, as tombstones are, is no second one.
		records: map[string]bool{"g#0.0": true, "g#1.0": true},
		sources: map[schemas.Position]bool{at(7): true},
	}
	count, pending := balance(Score, in, out, dead)
	if diff := cmp.Diff(Count{Stage: Score, In: 6, Out: 2, Dead: 2, Pending: 2}, count); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if count.In != count.Out+count.Dead+count.Pending {
		t.Errorf("%+v does not balance", count)
	}
	groups := map[string]bool{}
	for _, p := range pending {
		groups[p.group] = true
	}
	if !groups["h"] || !groups["y"] || len(groups) != 2 {
		t.Errorf("pending are of %v, want h and the broken record y", groups)
	}
}
