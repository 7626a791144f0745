package ledger

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// TestReadOfARunThatWasStopped: of an order of two rollouts, one trajectory is
// written and nothing is committed. What is missing will be made by a restart, so
// it is pending and no loss.
func TestReadOfARunThatWasStopped(t *testing.T) {
	topics := stage.TopicsOf("r")
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	brokers := c.ListenAddrs()[0]
	if err := stage.Create(t.Context(), brokers, stage.TopicSettings{Partitions: 2}, topics); err != nil {
		t.Fatal(err)
	}
	task := schemas.Task{ID: "wrap", Rollouts: 2}
	order, err := schemas.Tasks.Encode(task)
	if err != nil {
		t.Fatal(err)
	}
	group := schemas.GroupID("r", "wrap", 0)
	trajectory, err := schemas.Trajectories.Encode(schemas.Trajectory{ID: schemas.TrajectoryID("r", "wrap", 0, 1, 0), GroupID: group, Rollout: 1, Task: task, Termination: schemas.Finished})
	if err != nil {
		t.Fatal(err)
	}
	written := kafkaio.Output{Topic: topics.Trajectories, Key: []byte(group), Value: trajectory}
	err = kafkaio.Produce(t.Context(), brokers,
		kafkaio.Output{Topic: topics.Tasks, Key: []byte(group), Value: order}, written, written, // twice, as a crash may do
		kafkaio.Output{Topic: topics.Trajectories, Key: []byte(group), Value: []byte("no frame")})
	if err != nil {
		t.Fatal(err)
	}
	l, err := Read(t.Context(), brokers, "r", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if found := problems(l); found != nil {
		t.Errorf("problems: %q", found)
	}
	want := []Balance{{Stage: "rollout", In: 2, Out: 1, Pending: 1}, {Stage: "score", In: 2, Pending: 2}}
	if got := l.Audit()[:2]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("balances %+v, want %+v", got, want)
	}
}
