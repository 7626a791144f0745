package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"golang.org/x/sync/errgroup"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
	"millrace/transforms/kafkaio/kafkatest"
)

// sampled is a trajectory of the given length: a third of its tokens sampled, in
// 8 turns, and about 4 bytes of text a token.
func sampled(id, tokens int) schemas.Trajectory {
	const turns = 8
	t := schemas.Trajectory{
		ID: fmt.Sprintf("g/%d#0.0", id), GroupID: fmt.Sprintf("g/%d", id), Run: "r", Termination: schemas.Finished,
		Task:   schemas.Task{ID: "t", Rollouts: 1, Statement: strings.Repeat("word ", 100), Files: []schemas.File{{Path: "a.go", Content: strings.Repeat("line\n", 100)}}},
		Tokens: make([]int32, tokens), LossMask: make([]bool, tokens), LogProbs: make([]float32, tokens), Versions: make([]int32, tokens),
	}
	width := tokens / turns
	for j := range tokens {
		t.Tokens[j], t.Versions[j] = int32(j*7919%150000), -1
		if j%width > 2*width/3 {
			t.LossMask[j], t.LogProbs[j], t.Versions[j] = true, -0.1/float32(j), 3
		}
	}
	for k := range int32(turns) {
		w := int32(width)
		t.Steps = append(t.Steps, schemas.Step{TokenStart: k*w + 2*w/3, TokenEnd: (k + 1) * w, Tool: "execute_bash",
			Action: strings.Repeat("act ", width/3), Observation: strings.Repeat("see ", 2*width/3)})
	}
	return t
}

// BenchmarkLog is the hand-over of trajectories from one goroutine to another
// through a durable topic, against a channel in memory: encode, append, read,
// decode. "stream" is the time for each of many, with 8 appends under way, as
// rollouts end; "alone" is the time from the one's end to the other's beginning
// when there is nothing else to do. "cpu" is what this process spent on a record
// of the stream, the embedded broker included; "MB" is the size of a record.
func BenchmarkLog(b *testing.B) {
	logs := map[string]func(b *testing.B) string{
		"embedded": func(b *testing.B) string {
			broker, err := StartBroker(BrokerConfig{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				if err := broker.Close(); err != nil {
					b.Error(err)
				}
			})
			return broker.Addr()
		},
		"kafka": func(b *testing.B) string { return kafkatest.Newest(b).Plain },
	}
	for _, log := range []string{"embedded", "kafka"} {
		b.Run(log, func(b *testing.B) {
			brokers := logs[log](b)
			for _, tokens := range []int{4 << 10, 32 << 10, 128 << 10} {
				b.Run(fmt.Sprintf("%dk", tokens>>10), func(b *testing.B) { handOver(b, brokers, tokens) })
			}
		})
	}
}

func handOver(b *testing.B, brokers string, tokens int) {
	n := 8 << 20 / tokens // of one round
	given := make([]schemas.Trajectory, n)
	for i := range given {
		given[i] = sampled(i, tokens)
	}
	topic := newTopic(b, brokers, "log", 1)
	arrived := make(chan schemas.Trajectory)
	ctx, stop := context.WithCancel(b.Context())
	reader := make(chan error, 1)
	size := 0
	go func() {
		reader <- kafkaio.Consume(ctx, kafkaio.Source{Job: b.Name(), Brokers: brokers, Topic: topic}, func(r kafkaio.Record) error {
			rows, err := schemas.Trajectories.Decode(r.Value)
			if err != nil {
				return err
			}
			size = len(r.Value)
			arrived <- rows[0]
			return nil
		})
	}()
	produce := func(t schemas.Trajectory) error {
		frame, err := schemas.Trajectories.Encode(t)
		if err != nil {
			return err
		}
		return kafkaio.Produce(b.Context(), brokers, kafkaio.Output{Topic: topic, Key: []byte(t.GroupID), Value: frame, ID: t.ID})
	}
	memory := make(chan schemas.Trajectory)
	var held, logged, alone, cpu time.Duration
	for b.Loop() {
		began := time.Now()
		go func() {
			for _, t := range given {
				memory <- t
			}
		}()
		for range given {
			<-memory
		}
		held += time.Since(began)

		began, cpu = time.Now(), cpu-used(b)
		writers, _ := errgroup.WithContext(b.Context())
		writers.SetLimit(8)
		go func() {
			for _, t := range given {
				writers.Go(func() error { return produce(t) })
			}
		}()
		for range given {
			<-arrived
		}
		logged, cpu = logged+time.Since(began), cpu+used(b)
		if err := writers.Wait(); err != nil {
			b.Fatal(err)
		}

		began = time.Now()
		if err := produce(given[0]); err != nil {
			b.Fatal(err)
		}
		<-arrived
		alone += time.Since(began)
	}
	stop()
	if err := <-reader; !errors.Is(err, context.Canceled) {
		b.Fatal(err)
	}
	ms := func(d time.Duration, n int) float64 { return d.Seconds() * 1000 / float64(n) }
	b.ReportMetric(ms(logged-held, b.N*n), "ms/stream")
	b.ReportMetric(ms(cpu, b.N*n), "cpu-ms/stream")
	b.ReportMetric(ms(alone, b.N), "ms/alone")
	b.ReportMetric(float64(size)/1e6, "MB")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPartitions is records of 64 KiB through Read, Write and Commit, and
// through Async, over 1, 4 and 16 partitions: time and CPU time a record, and
// both as a ratio to one partition.
func BenchmarkPartitions(b *testing.B) {
	const records, size = 3000, 64 << 10
	brokers := startBroker(b)
	value := []byte(strings.Repeat("0123456789abcde", size/15))
	shapes := map[string]func(b *testing.B, s beam.Scope, name, in, out string){
		"read-write-commit": func(b *testing.B, s beam.Scope, name, in, out string) {
			end := kafkaio.Latest
			read, begun := kafkaio.ReadTracked(s, kafkaio.ReadConfig{Source: kafkaio.Source{Job: name, Brokers: brokers, Topic: in, Group: name, To: &end}})
			acks := kafkaio.Write(s, kafkaio.WriteConfig{Job: name, Brokers: brokers}, beam.ParDo(s, &rewriteFn{Topic: out}, read))
			kafkaio.Commit(s, kafkaio.CommitConfig{Job: name, Brokers: brokers, Group: name}, begun, acks)
		},
		"async": func(b *testing.B, s beam.Scope, name, in, out string) {
			end := kafkaio.Latest
			kafkaio.Async(s, kafkaio.AsyncConfig{Source: kafkaio.Source{Job: name, Brokers: brokers, Topic: in, Group: name, To: &end},
				Work: register(b, name, copyTo(out)), InFlight: 64})
		},
	}
	for _, shape := range []string{"read-write-commit", "async"} {
		var first, firstCPU float64
		for _, partitions := range []int{1, 4, 16} {
			in := newTopic(b, brokers, "in", partitions)
			for from := 0; from < records; from += 200 {
				var outputs []kafkaio.Output
				for i := range 200 {
					outputs = append(outputs, kafkaio.Output{Topic: in, Key: fmt.Append(nil, from+i), Value: value})
				}
				if err := kafkaio.Produce(b.Context(), brokers, outputs...); err != nil {
					b.Fatal(err)
				}
			}
			b.Run(fmt.Sprintf("%s/%d", shape, partitions), func(b *testing.B) {
				var took, cpu time.Duration
				for b.Loop() {
					name, out := unique(b, "job"), newTopic(b, brokers, "out", partitions)
					began, spent := time.Now(), used(b)
					p, root := beam.NewPipelineWithRoot()
					shapes[shape](b, root, name, in, out)
					job, err := RunJob(b.Context(), name, p)
					if err == nil {
						err = job.Wait()
					}
					if err != nil {
						b.Fatal(err)
					}
					took, cpu = took+time.Since(began), cpu+used(b)-spent
				}
				us := func(d time.Duration) float64 { return d.Seconds() * 1e6 / float64(b.N*records) }
				if partitions == 1 {
					first, firstCPU = us(took), us(cpu)
				}
				b.ReportMetric(us(took), "us/record")
				b.ReportMetric(us(cpu), "cpu-us/record")
				b.ReportMetric(us(took)/first, "of_one")
				b.ReportMetric(us(cpu)/firstCPU, "cpu-of_one")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
