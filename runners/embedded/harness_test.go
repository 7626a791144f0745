package embedded

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/transforms/kafkaio"
)

// TestMain lets the test binary be the child that restart_test.go kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		child(dir)
		return
	}
	if dir := os.Getenv(childBroker); dir != "" {
		brokerChild(dir)
		return
	}
	code := m.Run()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := kafkaio.CloseAll(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// onKafka is the real broker that TestKafka gives its tests; empty otherwise.
var onKafka string

// startBroker is a broker in memory, or the real one.
func startBroker(t testing.TB) string {
	t.Helper()
	if onKafka != "" {
		return onKafka
	}
	b, err := StartBroker(BrokerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.Addr()
}

// unique makes a name that no other test or run has.
func unique(t testing.TB, name string) string {
	clean := strings.NewReplacer("/", ".", " ", "_", "#", "_").Replace(t.Name())
	return fmt.Sprintf("%s.%s.%d", clean, name, time.Now().UnixNano())
}

func newTopic(t testing.TB, brokers, name string, partitions int) string {
	t.Helper()
	topic := unique(t, name)
	if err := kafkaio.EnsureTopics(t.Context(), brokers, kafkaio.TopicSpec{Name: topic, Partitions: partitions}); err != nil {
		t.Fatal(err)
	}
	return topic
}

// fill writes records with the values [from, to), spread by key.
func fill(t testing.TB, brokers, topic string, from, to int) {
	t.Helper()
	var outputs []kafkaio.Output
	for i := from; i < to; i++ {
		value := fmt.Append(nil, i)
		outputs = append(outputs, kafkaio.Output{Topic: topic, Key: value, Value: value, ID: fmt.Sprint(i)})
	}
	if err := kafkaio.Produce(t.Context(), brokers, outputs...); err != nil {
		t.Fatal(err)
	}
}

// gather reads topic until it holds n different values, and returns how often
// each came.
func gather(t testing.TB, brokers, topic string, n int) map[string]int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	seen := make(map[string]int)
	if n == 0 {
		return seen
	}
	enough := fmt.Errorf("%d values", n)
	err := kafkaio.Consume(ctx, kafkaio.Source{Job: "gather", Brokers: brokers, Topic: topic, From: kafkaio.Earliest}, func(r kafkaio.Record) error {
		seen[string(r.Value)]++
		if len(seen) == n {
			return enough
		}
		return nil
	})
	if err != enough {
		t.Fatalf("%d of %d values: %v", len(seen), n, err)
	}
	return seen
}

// remaining is what a new run of the group would read.
func remaining(t testing.TB, brokers, topic, group string) []string {
	t.Helper()
	end := kafkaio.Latest
	var values []string
	err := kafkaio.Consume(t.Context(), kafkaio.Source{Job: "remaining", Brokers: brokers, Topic: topic, Group: group, To: &end}, func(r kafkaio.Record) error {
		values = append(values, string(r.Value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// run starts a pipeline and cancels it at the end of the test.
func run(t testing.TB, name string, build func(beam.Scope)) *Job {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	build(s)
	job, err := RunJob(t.Context(), name, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := job.Cancel(); err != nil {
			t.Error(err)
		}
	})
	return job
}

// register makes a work known for the length of the test.
func register(t testing.TB, name string, w kafkaio.Work) string {
	t.Cleanup(kafkaio.RegisterWork(name, w))
	return name
}

// copyTo emits the record as it is.
func copyTo(topic string) kafkaio.Work {
	return func(_ context.Context, r kafkaio.Record, emit func(kafkaio.Output)) error {
		emit(kafkaio.Output{Topic: topic, Key: r.Key, Value: r.Value, ID: string(r.Value)})
		return nil
	}
}

func drained(t testing.TB, job *Job) {
	t.Helper()
	kafkaio.Drain(job.Name())
	if err := job.Wait(); err != nil {
		t.Fatal(err)
	}
}

// exactly checks that seen holds the values [0, n), each once.
func exactly(t testing.TB, seen map[string]int, n int) {
	t.Helper()
	for i := range n {
		if seen[fmt.Sprint(i)] != 1 {
			t.Errorf("value %d came %d times", i, seen[fmt.Sprint(i)])
		}
	}
	if len(seen) != n {
		t.Errorf("%d values: %v", len(seen), slices.Sorted(maps.Keys(seen)))
	}
}

// counter counts from many goroutines and lets one wait for a number.
type counter struct {
	mu sync.Mutex
	n  int
	at map[int]chan struct{}
}

func (c *counter) reached(n int) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = make(map[int]chan struct{})
	}
	done := make(chan struct{})
	if c.n >= n {
		close(done)
	} else {
		c.at[n] = done
	}
	return done
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	if done := c.at[c.n]; done != nil {
		close(done)
	}
}
