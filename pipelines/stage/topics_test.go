package stage

import (
	"slices"
	"testing"
	"time"

	"millrace/transforms/kafkaio"
)

// TestSpecs: what a resumed run reads from its beginning is kept whatever the
// retention, and an evaluation has no topics of a learner.
func TestSpecs(t *testing.T) {
	settings := TopicSettings{Partitions: 4, Replication: 3, Retention: time.Hour}
	spec := func(name string, retention time.Duration, compact bool) kafkaio.TopicSpec {
		return kafkaio.TopicSpec{Name: name, Partitions: 4, Replicas: 3, Retention: retention, Compact: compact}
	}
	want := []kafkaio.TopicSpec{
		spec("r.tasks", 0, false), spec("r.trajectories", time.Hour, false), spec("r.rewarded", time.Hour, false),
		spec("r.samples", time.Hour, false), spec("r.policy", 0, true), spec("r.ledger", 0, false), spec("r.deadletters", time.Hour, false),
	}
	if got := TopicsOf("r").specs(settings); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	filtered := Topics{Filtered: "r.filtered"}.specs(settings)
	if !slices.Equal(filtered, []kafkaio.TopicSpec{spec("r.filtered", time.Hour, false)}) {
		t.Errorf("a job that ends with the filter: %+v", filtered)
	}
	want = []kafkaio.TopicSpec{want[0], want[1], want[2], want[6]}
	if got := RolloutTopicsOf("r").specs(settings); !slices.Equal(got, want) {
		t.Errorf("an evaluation: got  %+v\nwant %+v", got, want)
	}
}
