package train

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// TestAdmissionStopsWithTheLearner: while the policy stays at a version, the
// iterations up to that version and the staleness are ordered, and no more,
// however long the feeder waits; when it moves on, so does the feeder.
func TestAdmissionStopsWithTheLearner(t *testing.T) {
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "run.tasks"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	s := stage.Stream{Brokers: broker.ListenAddrs()[0], Topics: stage.TopicsOf("run")}
	c := Config{Name: "run", Groups: 2, GroupSize: 4, MaxStaleness: 1}
	tired := errors.New("asked often enough")
	// await feeds until the version was looked at a hundred times in vain.
	await := func(version, first int64) int64 {
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		asked := 0
		next, err := feed(ctx, s, c, numbered(10), func() int64 {
			if asked++; asked > 100 {
				stop(tired)
			}
			return version
		}, first, 20, nil)
		if !errors.Is(err, tired) {
			t.Fatalf("feeding at version %d: %v", version, err)
		}
		return next
	}
	first := int64(0)
	for version := range int64(4) {
		first = await(version, first)
		if want := version + c.MaxStaleness + 1; first != want {
			t.Errorf("at version %d the next iteration is %d, want %d", version, first, want)
		}
		perIteration := map[int64]int{}
		err := kafkaio.Scan(t.Context(), s.Brokers, s.Topics.Tasks, &kafkaio.Latest, func(r kafkaio.Record) error {
			orders, err := schemas.Tasks.Decode(r.Value)
			for _, o := range orders {
				perIteration[o.Iteration]++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(perIteration) != int(first) {
			t.Errorf("at version %d iterations %v are ordered, want those before %d", version, perIteration, first)
		}
		for iteration, n := range perIteration {
			if n != c.Groups {
				t.Errorf("iteration %d has %d orders, want %d", iteration, n, c.Groups)
			}
		}
	}
}
