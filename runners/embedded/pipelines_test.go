package embedded

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"

	"millrace/runners/jobserver"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[rewriteFn]())
	beam.RegisterDoFn(refuse)
	beam.RegisterDoFn(toAck)
	beam.RegisterDoFn(reflect.TypeFor[panicFn]())
	beam.RegisterDoFn(reflect.TypeFor[countFn]())
	beam.RegisterDoFn(underOneKey)
}

// panicFn panics where it is told to.
type panicFn struct{ InSetup bool }

func (fn *panicFn) Setup() {
	if fn.InSetup {
		panic("this DoFn\npanics in Setup")
	}
}

func (fn *panicFn) ProcessElement(kafkaio.Record) kafkaio.Ack { panic("this DoFn\npanics at a record") }

// rewriteFn turns a record into the result "write it to Topic", and every
// record whose value ends in 3 into the result "nothing".
type rewriteFn struct{ Topic string }

func (fn *rewriteFn) ProcessElement(r kafkaio.Record, emit func(kafkaio.Result)) error {
	result := kafkaio.Result{Sources: []schemas.Position{r.Source}}
	if !strings.HasSuffix(string(r.Value), "3") {
		result.Outputs = []kafkaio.Output{{Topic: fn.Topic, Key: r.Key, Value: r.Value, ID: string(r.Value)}}
	}
	emit(result)
	return nil
}

func refuse([]byte) (int, error) { return 0, errors.New("this DoFn\nrefuses everything") }

func TestAsyncEndToEnd(t *testing.T) {
	for _, partitions := range []int{1, 4} {
		t.Run(fmt.Sprint(partitions), func(t *testing.T) {
			brokers := startBroker(t)
			in, out := newTopic(t, brokers, "in", partitions), newTopic(t, brokers, "out", 2)
			name := unique(t, "job")
			fill(t, brokers, in, 0, 300) // there before the job
			job := run(t, name, func(s beam.Scope) {
				kafkaio.Async(s, kafkaio.AsyncConfig{
					Source: kafkaio.Source{Job: name, Brokers: brokers, Topic: in, Group: name},
					Work:   register(t, name, copyTo(out)),
				})
			})
			fill(t, brokers, in, 300, 600) // and while it runs
			exactly(t, gather(t, brokers, out, 600), 600)
			drained(t, job)
			if left := remaining(t, brokers, in, name); len(left) != 0 {
				t.Errorf("not committed: %v", left)
			}
			if s := kafkaio.StatsOf(name); s.RecordsIn != 600 || s.RecordsOut != 600 || s.InFlight != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestReadWriteCommit also shows that a result without outputs is committed and
// that a second run goes on where the first was cancelled.
func TestReadWriteCommit(t *testing.T) {
	brokers := startBroker(t)
	in, out := newTopic(t, brokers, "in", 2), newTopic(t, brokers, "out", 2)
	group := unique(t, "group")
	start := func() *Job {
		name := unique(t, "job")
		return run(t, name, func(s beam.Scope) {
			records, begun := kafkaio.ReadTracked(s, kafkaio.ReadConfig{Source: kafkaio.Source{Job: name, Brokers: brokers, Topic: in, Group: group}})
			results := beam.ParDo(s, &rewriteFn{Topic: out}, records)
			acks := kafkaio.Write(s, kafkaio.WriteConfig{Job: name, Brokers: brokers}, results)
			kafkaio.Commit(s, kafkaio.CommitConfig{Job: name, Brokers: brokers, Group: group}, begun, acks)
		})
	}
	fill(t, brokers, in, 0, 50)
	job := start()
	gather(t, brokers, out, 45)
	drained(t, job)
	if left := remaining(t, brokers, in, group); len(left) != 0 {
		t.Fatalf("not committed after a drain: %v", left)
	}
	fill(t, brokers, in, 50, 100)
	job = start()
	seen := gather(t, brokers, out, 90)
	if err := job.Cancel(); err != nil {
		t.Fatal(err)
	}
	if err := job.Wait(); !errors.Is(err, jobserver.ErrCancelled) {
		t.Errorf("a cancelled job ends with %v", err)
	}
	for value, n := range seen {
		if n != 1 {
			t.Errorf("%s was written %d times", value, n)
		}
	}
}

// TestBoundedReadEndsByItself: a batch job needs nobody to stop it.
func TestBoundedReadEndsByItself(t *testing.T) {
	brokers := startBroker(t)
	in, out := newTopic(t, brokers, "in", 3), newTopic(t, brokers, "out", 1)
	fill(t, brokers, in, 0, 100)
	name, end := unique(t, "job"), kafkaio.Latest
	job := run(t, name, func(s beam.Scope) {
		records := kafkaio.Read(s, kafkaio.ReadConfig{Source: kafkaio.Source{Job: name, Brokers: brokers, Topic: in, From: kafkaio.Earliest, To: &end}})
		results := beam.ParDo(s, &rewriteFn{Topic: out}, records)
		kafkaio.Discard(s, kafkaio.Write(s, kafkaio.WriteConfig{Job: name, Brokers: brokers}, results))
	})
	if err := job.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := len(gather(t, brokers, out, 90)); n != 90 {
		t.Errorf("%d values", n)
	}
}

func TestJobsRunSideBySide(t *testing.T) {
	brokers := startBroker(t)
	topics := []string{newTopic(t, brokers, "a", 2), newTopic(t, brokers, "b", 2), newTopic(t, brokers, "c", 2), newTopic(t, brokers, "d", 2)}
	var stages []*Job
	for i := range 3 {
		name := unique(t, fmt.Sprint("job", i))
		stages = append(stages, run(t, name, func(s beam.Scope) {
			kafkaio.Async(s, kafkaio.AsyncConfig{
				Source: kafkaio.Source{Job: name, Brokers: brokers, Topic: topics[i], Group: name},
				Work:   register(t, name, copyTo(topics[i+1])),
			})
		}))
	}
	fill(t, brokers, topics[0], 0, 200)
	exactly(t, gather(t, brokers, topics[3], 200), 200)
	for _, job := range stages {
		drained(t, job)
	}
}

func TestFailureOfOneJobIsItsOwn(t *testing.T) {
	brokers := startBroker(t)
	in, out := newTopic(t, brokers, "in", 1), newTopic(t, brokers, "out", 1)
	well := unique(t, "well")
	healthy := run(t, well, func(s beam.Scope) {
		kafkaio.Async(s, kafkaio.AsyncConfig{Source: kafkaio.Source{Job: well, Brokers: brokers, Topic: in, Group: well}, Work: register(t, well, copyTo(out))})
	})
	ill := unique(t, "ill")
	failing := run(t, ill, func(s beam.Scope) {
		kafkaio.Async(s, kafkaio.AsyncConfig{Source: kafkaio.Source{Job: ill, Brokers: brokers, Topic: in, Group: ill},
			Work: register(t, ill, func(context.Context, kafkaio.Record, func(kafkaio.Output)) error {
				return errors.New("out of sandboxes")
			})})
	})
	fill(t, brokers, in, 0, 1)
	want := fmt.Sprintf("job %s: %s: %s[0]@0: out of sandboxes", ill, ill, in)
	if err := failing.Wait(); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if left := remaining(t, brokers, in, ill); len(left) != 1 {
		t.Errorf("the failing job committed: %v is left", left)
	}
	fill(t, brokers, in, 1, 10)
	exactly(t, gather(t, brokers, out, 10), 10)
	drained(t, healthy)
}

func TestErrorOfADoFnIsOneLine(t *testing.T) {
	job := run(t, unique(t, "job"), func(s beam.Scope) {
		kafkaio.Discard(s, beam.ParDo(s, toAck, beam.ParDo(s, refuse, beam.Impulse(s))))
	})
	err := job.Wait()
	if err == nil || !strings.HasSuffix(err.Error(), "this DoFn refuses everything") || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
		t.Errorf("%v", err)
	}
}

// countFn writes the number of records so far, slowly.
type countFn struct {
	Topic string
	Count state.Value[int]
}

func (fn *countFn) ProcessElement(sp state.Provider, _ string, r kafkaio.Record, emit func(kafkaio.Result)) error {
	n, _, err := fn.Count.Read(sp)
	if err != nil {
		return err
	}
	time.Sleep(slowElement)
	if err := fn.Count.Write(sp, n+1); err != nil {
		return err
	}
	emit(kafkaio.Result{Outputs: []kafkaio.Output{{Topic: fn.Topic, Key: r.Key, Value: fmt.Append(nil, n), ID: string(r.Value)}}})
	return nil
}

// slowElement is longer than Prism waits for progress before it would split a
// bundle (at least 100 ms).
const slowElement = 250 * time.Millisecond

func underOneKey(r kafkaio.Record) (string, kafkaio.Record) { return "key", r }

// TestSlowBundleKeepsItsState: no record of a key is lost from the key's state
// while its bundle makes no progress for a while.
func TestSlowBundleKeepsItsState(t *testing.T) {
	const records = 12
	brokers := startBroker(t)
	in, out := newTopic(t, brokers, "in", 1), newTopic(t, brokers, "out", 1)
	fill(t, brokers, in, 0, records)
	name := unique(t, "job")
	job := run(t, name, func(s beam.Scope) {
		read := kafkaio.Read(s, kafkaio.ReadConfig{Source: kafkaio.Source{Job: name, Brokers: brokers, Topic: in, From: kafkaio.Earliest}})
		keyed := beam.ParDo(s, underOneKey, read)
		counted := beam.ParDo(s, &countFn{Topic: out, Count: state.MakeValueState[int]("count")}, keyed)
		kafkaio.Discard(s, kafkaio.Write(s, kafkaio.WriteConfig{Job: name, Brokers: brokers}, counted))
	})
	exactly(t, gather(t, brokers, out, records), records)
	drained(t, job)
}

// TestPanicOfADoFnFailsTheJob: behind a source that never ends, where Beam must
// stop a bundle that is still being read.
func TestPanicOfADoFnFailsTheJob(t *testing.T) {
	for name, fn := range map[string]*panicFn{"panics in Setup": {InSetup: true}, "panics at a record": {}} {
		t.Run(name, func(t *testing.T) {
			brokers := startBroker(t)
			in := newTopic(t, brokers, "in", 1)
			fill(t, brokers, in, 0, 3)
			ill := unique(t, "ill")
			job := run(t, ill, func(s beam.Scope) {
				kafkaio.Discard(s, beam.ParDo(s, fn, kafkaio.Read(s, kafkaio.ReadConfig{Source: kafkaio.Source{Job: ill, Brokers: brokers, Topic: in, Group: ill}})))
			})
			err := job.Wait()
			if err == nil || !strings.Contains(err.Error(), "this DoFn "+name+" at ") ||
				!strings.Contains(err.Error(), "pipelines_test.go:") || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
				t.Errorf("%v", err)
			}
		})
	}
}

func toAck(int) kafkaio.Ack { return kafkaio.Ack{} }

// TestCancelReachesWork: the contexts of running Work calls end, nothing is
// committed, and a new run reads the records again.
func TestCancelReachesWork(t *testing.T) {
	brokers := startBroker(t)
	in, out := newTopic(t, brokers, "in", 1), newTopic(t, brokers, "out", 1)
	group := unique(t, "group")
	var begun, ended counter
	stuck := unique(t, "stuck")
	job := run(t, stuck, func(s beam.Scope) {
		kafkaio.Async(s, kafkaio.AsyncConfig{Source: kafkaio.Source{Job: stuck, Brokers: brokers, Topic: in, Group: group},
			Work: register(t, stuck, func(ctx context.Context, _ kafkaio.Record, _ func(kafkaio.Output)) error {
				begun.add()
				<-ctx.Done()
				ended.add()
				return ctx.Err()
			})})
	})
	fill(t, brokers, in, 0, 5)
	<-begun.reached(5)
	if err := job.Cancel(); err != nil {
		t.Fatal(err)
	}
	if err := job.Wait(); !errors.Is(err, jobserver.ErrCancelled) {
		t.Errorf("ended with %v", err)
	}
	<-ended.reached(5)
	again := unique(t, "again")
	job = run(t, again, func(s beam.Scope) {
		kafkaio.Async(s, kafkaio.AsyncConfig{Source: kafkaio.Source{Job: again, Brokers: brokers, Topic: in, Group: group}, Work: register(t, again, copyTo(out))})
	})
	exactly(t, gather(t, brokers, out, 5), 5)
	drained(t, job)
}

func TestTopicThatIsMissingFailsTheJob(t *testing.T) {
	brokers := startBroker(t)
	name := unique(t, "job")
	job := run(t, name, func(s beam.Scope) {
		kafkaio.Async(s, kafkaio.AsyncConfig{Source: kafkaio.Source{Job: name, Brokers: brokers, Topic: "missing", RetryFor: 1}, Work: register(t, name, copyTo("x"))})
	})
	want := fmt.Sprintf("job %s: kafka %s: listing the partitions of missing: gave up after 1ns: topic does not exist", name, brokers)
	if err := job.Wait(); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
