package flink

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"

	"millrace/pipelines/stage"
	"millrace/runners/embedded"
	"millrace/schemas"
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
	"millrace/transforms/kafkaio"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[copyFn]())
}

// copyFn writes each record to Topic.
type copyFn struct{ Topic string }

func (fn *copyFn) ProcessElement(r kafkaio.Record, emit func(kafkaio.Result)) {
	emit(kafkaio.Result{
		Sources: []schemas.Position{r.Source},
		Outputs: []kafkaio.Output{{Topic: fn.Topic, Key: r.Key, Value: r.Value, ID: string(r.Value)}},
	})
}

const (
	members = 4 // of each group
	poll    = 200 * time.Millisecond
)

// TestFlink runs the stages on a cluster with two task managers, each test with
// two slots of it for each job.
func TestFlink(t *testing.T) {
	h := newBench(t)
	t.Run("bounded job ends by itself", h.bounded)
	t.Run("streaming equals Prism", h.streaming)
	t.Run("failing job says why", h.failing)
	t.Run("killed task manager loses nothing", h.killed)
}

type bench struct {
	brokers string
	cluster *Cluster
	start   stage.Start
	worker  string
	evident *sync.Once
}

// newBench is a cluster and an embedded broker for the length of the test.
func newBench(t testing.TB) bench {
	cluster, jobs := startCluster(t)
	broker, err := embedded.StartBroker(embedded.BrokerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := broker.Close(); err != nil {
			t.Error(err)
		}
	})
	return bench{brokers: broker.Addr(), cluster: cluster, start: Start(jobs), worker: jobs.Worker, evident: new(sync.Once)}
}

// run starts a job and cancels it at the end of the test.
func (h bench) run(t testing.TB, start stage.Start, name string, p *beam.Pipeline) stage.Job {
	t.Helper()
	job, err := start(t.Context(), name, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			h.evidence(t)
		}
		if err := job.Cancel(); err != nil {
			t.Error(err)
			h.evidence(t)
		}
	})
	return job
}

func onPrism(ctx context.Context, name string, p *beam.Pipeline) (stage.Job, error) {
	return embedded.RunJob(ctx, name, p)
}

// topics makes the topics of a run of its own.
func (h bench) topics(t testing.TB, what string) stage.Topics {
	t.Helper()
	topics := stage.TopicsOf(fmt.Sprintf("%s.%d", what, time.Now().UnixNano()))
	if err := stage.Create(t.Context(), h.brokers, stage.TopicSettings{Partitions: 4}, topics); err != nil {
		t.Fatal(err)
	}
	return topics
}

// trajectories writes the members of groups [from, to), each group's in an order
// of its own, one in five of them twice.
func (h bench) trajectories(t testing.TB, topic string, from, to int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(from)))
	var outputs []kafkaio.Output
	for g := from; g < to; g++ {
		group := fmt.Sprintf("run/0/%d", g)
		for _, i := range append(r.Perm(members), r.Perm(members)[:r.IntN(2)]...) {
			tr := schemas.Trajectory{
				ID: fmt.Sprintf("%s#%d.0", group, i), GroupID: group, Run: "run", Rollout: int32(i),
				Task: schemas.Task{ID: fmt.Sprint(g), Rollouts: members}, Termination: schemas.Finished,
				Tokens: []int32{1, 2, int32(i)}, LossMask: []bool{false, true, true},
				LogProbs: []float32{0, -0.5, -1.5}, Versions: []int32{-1, 0, 0},
			}
			frame, err := schemas.Trajectories.Encode(tr)
			if err != nil {
				t.Fatal(err)
			}
			outputs = append(outputs, kafkaio.Output{Topic: topic, Key: []byte(group), Value: frame, ID: tr.ID})
		}
	}
	if err := kafkaio.Produce(t.Context(), h.brokers, outputs...); err != nil {
		t.Fatal(err)
	}
}

// stages starts score and advantage between the topics of a run.
func (h bench) stages(t testing.TB, start stage.Start, topics stage.Topics) (score, group string) {
	t.Helper()
	scoring, grouping := h.stream(topics, "score"), h.stream(topics, "advantage")
	p, err := stage.ScoreWith(scoring, stage.Settings{Maker: "test", Text: []byte("salt")}, 16)
	if err != nil {
		t.Fatal(err)
	}
	h.run(t, start, scoring.Job, p)
	h.run(t, start, grouping.Job, stage.Advantage(grouping, filter.Config{Mode: filter.Compact}, advantage.DefaultConfig()))
	return scoring.Job, grouping.Job
}

// stream is what a stage of a run reads and writes.
func (h bench) stream(topics stage.Topics, name string) stage.Stream {
	return stage.Stream{Brokers: h.brokers, Topics: topics, Job: topics.Samples + "." + name, Poll: poll}
}

// samples reads the samples of n groups, by id, and how many records of a group
// came again.
func (h bench) samples(t testing.TB, topic string, n int) (byID map[string]schemas.Sample, again int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	byID = map[string]schemas.Sample{}
	enough := errors.New("enough")
	err := kafkaio.Consume(ctx, kafkaio.Source{Job: "samples of " + topic, Brokers: h.brokers, Topic: topic, From: kafkaio.Earliest}, func(r kafkaio.Record) error {
		rows, err := schemas.Samples.Decode(r.Value)
		if err != nil {
			return err
		}
		for _, s := range rows {
			if old, seen := byID[s.ID]; seen {
				again++
				if d := cmp.Diff(old, s); d != "" {
					return fmt.Errorf("sample %s came again and is another: %s", s.ID, d)
				}
			}
			byID[s.ID] = s
		}
		if len(byID) == n*members {
			return enough
		}
		return nil
	})
	if err != enough {
		t.Fatalf("%d of %d samples: %v", len(byID), n*members, err)
	}
	return byID, again
}

// caughtUp waits until the group has committed the whole topic.
func (h bench) caughtUp(t testing.TB, topic, group string) {
	t.Helper()
	end := kafkaio.Latest
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for {
		left := 0
		err := kafkaio.Consume(ctx, kafkaio.Source{Job: "rest", Brokers: h.brokers, Topic: topic, Group: group, To: &end}, func(kafkaio.Record) error {
			left++
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %d records of %s not committed: %v", group, left, topic, err)
		}
		if left == 0 {
			return
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func (h bench) bounded(t *testing.T) {
	topics := h.topics(t, "bounded")
	h.trajectories(t, topics.Trajectories, 0, 20)
	end := kafkaio.Latest
	name := topics.Rewarded + ".copy"
	p, s := beam.NewPipelineWithRoot()
	records, begun := kafkaio.ReadTracked(s, kafkaio.ReadConfig{
		Source: kafkaio.Source{Job: name, Brokers: h.brokers, Topic: topics.Trajectories, Group: name, To: &end, Poll: poll},
		Lag:    10, // so the end is reached only if commits arrive while it runs
	})
	results := beam.ParDo(s, &copyFn{Topic: topics.Rewarded}, records)
	acks := kafkaio.Write(s, kafkaio.WriteConfig{Job: name, Brokers: h.brokers}, results)
	kafkaio.Commit(s, kafkaio.CommitConfig{Job: name, Brokers: h.brokers, Group: name}, begun, acks)
	if err := h.run(t, h.start, name, p).Wait(); err != nil {
		t.Fatal(err)
	}
	h.caughtUp(t, topics.Trajectories, name)
	count := func(topic string) map[string]int {
		n := map[string]int{}
		err := kafkaio.Consume(t.Context(), kafkaio.Source{Job: "count", Brokers: h.brokers, Topic: topic, From: kafkaio.Earliest, To: &end}, func(r kafkaio.Record) error {
			n[string(r.Value)]++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if d := cmp.Diff(count(topics.Trajectories), count(topics.Rewarded)); d != "" {
		t.Error(d)
	}
}

func (h bench) streaming(t *testing.T) {
	const groups = 60
	want, got := h.topics(t, "prism"), h.topics(t, "flink")
	h.trajectories(t, want.Trajectories, 0, groups)
	h.stages(t, onPrism, want)
	h.trajectories(t, got.Trajectories, 0, groups/2) // there before the job
	score, group := h.stages(t, h.start, got)
	h.trajectories(t, got.Trajectories, groups/2, groups) // and while it runs
	expected, _ := h.samples(t, want.Samples, groups)
	samples, again := h.samples(t, got.Samples, groups)
	if d := cmp.Diff(expected, samples); d != "" {
		t.Error(d)
	}
	if again != 0 {
		t.Errorf("%d samples came twice without a fault", again)
	}
	h.caughtUp(t, got.Trajectories, score)
	h.caughtUp(t, got.Rewarded, group)
	for _, job := range []string{score, group} {
		for vertex, state := range h.vertices(t, job) {
			if state != "RUNNING" {
				t.Errorf("%s: %s is %s: behind what has ended, Beam runs without a pause", job, vertex, state)
			}
		}
	}
}

// vertices are the parts of a job that runs, as Flink names them, with their states.
func (h bench) vertices(t testing.TB, job string) map[string]string {
	t.Helper()
	manager := rest("http://" + h.cluster.REST)
	ids, err := manager.find(t.Context(), startsOf(job), startPatience)
	if err != nil || len(ids) != 1 {
		t.Fatalf("%d jobs are starts of %s: %v", len(ids), job, err)
	}
	var told struct {
		Vertices []struct{ Name, Status string }
	}
	if err := manager.do(t.Context(), http.MethodGet, "/jobs/"+ids[0], &told); err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, v := range told.Vertices {
		states[v.Name] = v.Status
	}
	if len(states) == 0 {
		t.Fatalf("%s has no parts", job)
	}
	return states
}

func (h bench) killed(t *testing.T) {
	const groups = 80
	want, got := h.topics(t, "undisturbed"), h.topics(t, "disturbed")
	h.trajectories(t, want.Trajectories, 0, groups)
	h.stages(t, onPrism, want)
	score, _ := h.stages(t, h.start, got)
	h.trajectories(t, got.Trajectories, 0, groups/2)
	h.samples(t, got.Samples, groups/4)
	for _, p := range h.cluster.Processes {
		if p.Name == "taskmanager-1" {
			if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.trajectories(t, got.Trajectories, groups/2, groups)
	expected, _ := h.samples(t, want.Samples, groups)
	samples, again := h.samples(t, got.Samples, groups)
	t.Logf("%d samples, and %d of them a second time", len(samples), again)
	if d := cmp.Diff(expected, samples); d != "" {
		t.Error(d)
	}
	h.caughtUp(t, got.Trajectories, score)
	// Not so the rewarded: the upper part of a group that was written before the
	// kill is read again, and waits for the rest until its time limit.
}

func (h bench) failing(t *testing.T) {
	topics := h.topics(t, "failing")
	s := stage.Stream{Brokers: h.brokers, Topics: topics, Job: topics.Samples + ".failing"}
	p, err := stage.ScoreWith(s, stage.Settings{Maker: "nobody"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	once := stage.DefaultFlink()
	once.JobServer, once.REST, once.Retries = h.cluster.JobServer, "http://"+h.cluster.REST, 0
	once.Worker = h.worker
	h.trajectories(t, topics.Trajectories, 0, 1)
	err = h.run(t, Start(once), s.Job, p).Wait()
	if err == nil || !strings.Contains(err.Error(), `no makers named "nobody"`) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line that names what is missing", err)
	}
}

// freePorts finds free ports below those that the kernel hands out by itself.
func freePorts(t testing.TB, n int) []int {
	t.Helper()
	var ports []int
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(12000)))
		if err != nil {
			continue
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
		if len(ports) == n {
			return ports
		}
	}
	t.Fatal("no free ports between 20000 and 32000")
	return nil
}
