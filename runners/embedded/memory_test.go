package embedded

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
	"millrace/transforms/kafkaio"
)

var records = flag.Int("records", 16000, "records that TestMemoryIsFlat sends through a stage")

// childBroker names the directory of a child process that is a broker, which
// TestMain starts: what a broker holds in memory is not the stage's.
const childBroker = "MILLRACE_TEST_BROKER"

// brokerChild is a broker until its standard input ends.
func brokerChild(dir string) {
	b, err := StartBroker(BrokerConfig{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(b.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := b.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func startBrokerChild(t *testing.T) string {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childBroker+"="+t.TempDir())
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the broker did not start: %v", err)
	}
	return strings.TrimSpace(addr)
}

// flatWithin is what the heap may grow between the first quarter of the records
// and the last: what is remembered of closed groups, and noise. Ten million
// records are 1.25 million groups; a stage that keeps a hundred bytes of each
// grows by 90 MiB.
const flatWithin = 32 << 20

// TestMemoryIsFlat sends small records through the advantage stage, as fast as
// it takes them, and looks at the heap on the way, each time when all that was sent
// is done with: then the stage's memory must not depend on how many there were. Ten
// million take half an hour or more:
//
//	go test ./runners/embedded -run TestMemoryIsFlat -records 10000000 -timeout 24h -v
func TestMemoryIsFlat(t *testing.T) {
	const (
		members = 8
		chunk   = 1000 // groups
		// ahead is how many groups lie before the stage: enough that it never waits.
		ahead = 2 * chunk
	)
	brokers := startBrokerChild(t)
	s := stage.Stream{Brokers: brokers, Topics: stage.TopicsOf(unique(t, "run")), Job: unique(t, "job")}
	if err := stage.Create(t.Context(), brokers, stage.TopicSettings{Partitions: 2, Retention: time.Minute}, s.Topics); err != nil {
		t.Fatal(err)
	}
	p := stage.Advantage(s, filter.Config{Mode: filter.Compact}, advantage.DefaultConfig())
	job, err := RunJob(t.Context(), s.Job, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := job.Cancel(); err != nil {
			t.Error(err)
		}
	})
	// left waits until that many groups have left, each as one record of samples.
	left := func(groups int) {
		for kafkaio.StatsOf(s.Job).RecordsOut < int64(groups) {
			select {
			case <-job.Done():
				t.Fatalf("the stage ended: %v", job.Wait())
			case <-t.Context().Done():
				t.Fatal(context.Cause(t.Context()))
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	groups := *records / members
	var quarter uint64
	for first := 0; first < groups; first += chunk {
		n := min(chunk, groups-first)
		feedGroups(t, s, first, n, members)
		fed := first + n
		left(fed - ahead)
		last := fed == groups
		if last || fed%(100*chunk) == 0 || quarter == 0 && fed >= groups/4 {
			left(fed)
			committed(t, s, int64(fed*members))
			heap := live()
			t.Logf("%s: %d records: heap %.1f MiB", time.Now().Format(time.TimeOnly), fed*members, float64(heap)/(1<<20))
			if quarter == 0 && fed >= groups/4 {
				quarter = heap
			}
			if last && heap > quarter+flatWithin {
				t.Errorf("the heap grew from %.1f MiB at the first quarter of %d records to %.1f MiB", float64(quarter)/(1<<20), *records, float64(heap)/(1<<20))
			}
		}
	}
}

// feedGroups writes n complete groups of scored trajectories.
func feedGroups(t *testing.T, s stage.Stream, first, n, members int) {
	t.Helper()
	outputs := make([]kafkaio.Output, 0, n*members)
	for g := first; g < first+n; g++ {
		task := schemas.Task{ID: fmt.Sprint("t", g), Rollouts: int32(members)}
		group := schemas.GroupID("r", task.ID, 0)
		for i := range members {
			frame, err := schemas.Rewards.Encode(schemas.Reward{Value: float64(i % 2), Trajectory: schemas.Trajectory{
				ID: fmt.Sprintf("%s#%d.0", group, i), GroupID: group, Run: "r", Rollout: int32(i), Task: task, Termination: schemas.Finished,
				Tokens: []int32{1, 2, 3}, LossMask: []bool{false, false, true}, LogProbs: []float32{0, 0, -1}, Versions: []int32{-1, -1, 0},
			}})
			if err != nil {
				t.Fatal(err)
			}
			outputs = append(outputs, kafkaio.Output{Topic: s.Topics.Rewarded, Key: []byte(group), Value: frame})
		}
	}
	if err := kafkaio.Produce(t.Context(), s.Brokers, outputs...); err != nil {
		t.Fatal(err)
	}
}

// committed waits until the stage is done with n records: nothing of them is on
// its way any more.
func committed(t *testing.T, s stage.Stream, n int64) {
	t.Helper()
	for {
		positions, err := kafkaio.Commits(t.Context(), s.Brokers, s.Job)
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, p := range positions {
			sum += p.Offset
		}
		if sum == n {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(context.Cause(t.Context()))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// live is the memory that is in use behind a garbage collection.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
