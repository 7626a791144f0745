package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/segmentio/kafka-go"

	"millrace/transforms/kafkaio"
)

// BenchmarkAsyncLatency measures from the moment a record is handed to Produce
// until a consumer has the output made of it: two durable writes, two reads and
// a Work that does nothing.
func BenchmarkAsyncLatency(b *testing.B) {
	brokers := startBroker(b)
	in, out := newTopic(b, brokers, "in", 2), newTopic(b, brokers, "out", 2)
	name := unique(b, "job")
	run(b, name, func(s beam.Scope) {
		kafkaio.Async(s, kafkaio.AsyncConfig{Source: kafkaio.Source{Job: name, Brokers: brokers, Topic: in, Group: name}, Work: register(b, name, copyTo(out))})
	})
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	arrived := make(chan struct{})
	go func() {
		_ = kafkaio.Consume(ctx, kafkaio.Source{Job: name + ".sink", Brokers: brokers, Topic: out}, func(kafkaio.Record) error {
			arrived <- struct{}{}
			return nil
		})
	}()
	var took []time.Duration
	fill(b, brokers, in, 0, 1)
	<-arrived // all connections are open
	for b.Loop() {
		began := time.Now()
		fill(b, brokers, in, 0, 1)
		<-arrived
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms/p99")
}

// BenchmarkThroughput copies a topic of 100 KiB records to another: by plain
// kafka-go, by Async, and by Read and Write. The ratio of the MB/s is what Beam
// and the bookkeeping cost.
func BenchmarkThroughput(b *testing.B) {
	const records, size = 500, 100 << 10
	brokers := startBroker(b)
	in := newTopic(b, brokers, "in", 2)
	value := make([]byte, size)
	for i := range value {
		value[i] = byte(i * i >> 3)
	}
	for i := range records {
		if err := kafkaio.Produce(b.Context(), brokers, kafkaio.Output{Topic: in, Key: fmt.Append(nil, i), Value: value}); err != nil {
			b.Fatal(err)
		}
	}
	end := kafkaio.Latest
	for _, c := range []struct {
		name string
		copy func(b *testing.B, out string)
	}{
		{"kafka-go", func(b *testing.B, out string) { plainCopy(b, brokers, in, out, records) }},
		{"async", func(b *testing.B, out string) {
			name := unique(b, "job")
			job := run(b, name, func(s beam.Scope) {
				kafkaio.Async(s, kafkaio.AsyncConfig{Source: kafkaio.Source{Job: name, Brokers: brokers, Topic: in, To: &end}, Work: register(b, name, copyTo(out))})
			})
			if err := job.Wait(); err != nil {
				b.Fatal(err)
			}
		}},
		{"read-write", func(b *testing.B, out string) {
			name := unique(b, "job")
			job := run(b, name, func(s beam.Scope) {
				records := kafkaio.Read(s, kafkaio.ReadConfig{Source: kafkaio.Source{Job: name, Brokers: brokers, Topic: in, To: &end}})
				kafkaio.Discard(s, kafkaio.Write(s, kafkaio.WriteConfig{Job: name, Brokers: brokers}, beam.ParDo(s, &rewriteFn{Topic: out}, records)))
			})
			if err := job.Wait(); err != nil {
				b.Fatal(err)
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(records * size)
			for b.Loop() {
				c.copy(b, newTopic(b, brokers, "out", 2))
			}
		})
	}
}

func plainCopy(b *testing.B, brokers, in, out string, records int) {
	fresh := &kafka.Transport{} // whose cached metadata knows the new topic
	defer fresh.CloseIdleConnections()
	w := &kafka.Writer{Addr: kafka.TCP(brokers), Topic: out, Transport: fresh, Balancer: kafka.Murmur2Balancer{}, RequiredAcks: kafka.RequireAll, Compression: kafka.Lz4, BatchTimeout: 2 * time.Millisecond, BatchBytes: 64 << 20}
	defer w.Close()
	messages := make(chan kafka.Message)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var readers sync.WaitGroup
	for p := range 2 {
		readers.Go(func() {
			r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{brokers}, Topic: in, Partition: p, MinBytes: 1, MaxBytes: 4 << 20, MaxWait: 50 * time.Millisecond})
			defer r.Close()
			for {
				m, err := r.ReadMessage(ctx)
				if err != nil {
					if !errors.Is(err, context.Canceled) {
						b.Error(err)
					}
					return
				}
				select {
				case messages <- m:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	var writers sync.WaitGroup
	for range records {
		m := <-messages
		writers.Go(func() {
			if err := w.WriteMessages(b.Context(), kafka.Message{Key: m.Key, Value: m.Value}); err != nil {
				b.Error(err)
			}
		})
	}
	writers.Wait()
	cancel()
	readers.Wait()
}

// BenchmarkIdle reports the share of a core that four idle asynchronous jobs
// over two partitions each take, their broker included.
func BenchmarkIdle(b *testing.B) {
	brokers := startBroker(b)
	for i := range 4 {
		in, name := newTopic(b, brokers, fmt.Sprint("in", i), 2), unique(b, fmt.Sprint("job", i))
		run(b, name, func(s beam.Scope) {
			kafkaio.Async(s, kafkaio.AsyncConfig{Source: kafkaio.Source{Job: name, Brokers: brokers, Topic: in, Group: name}, Work: register(b, name, copyTo("none"))})
		})
	}
	time.Sleep(2 * time.Second) // let them slow down
	var cpu, wall time.Duration
	for b.Loop() {
		before, began := used(b), time.Now()
		time.Sleep(time.Second)
		cpu += used(b) - before
		wall += time.Since(began)
	}
	b.ReportMetric(100*cpu.Seconds()/wall.Seconds(), "%core")
}

// used is the processor time that this process has taken.
func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCommit reports what committing behind acks costs: small records,
// copied one by one, with their positions discarded and committed.
func BenchmarkCommit(b *testing.B) {
	const records = 5000
	brokers := startBroker(b)
	in := newTopic(b, brokers, "in", 2)
	fill(b, brokers, in, 0, records)
	end := kafkaio.Latest
	for _, commit := range []bool{false, true} {
		b.Run(map[bool]string{false: "discarded", true: "committed"}[commit], func(b *testing.B) {
			for b.Loop() {
				name, out := unique(b, "job"), newTopic(b, brokers, "out", 2)
				job := run(b, name, func(s beam.Scope) {
					source := kafkaio.Source{Job: name, Brokers: brokers, Topic: in, Group: name, To: &end}
					write := func(records beam.PCollection) beam.PCollection {
						return kafkaio.Write(s, kafkaio.WriteConfig{Job: name, Brokers: brokers}, beam.ParDo(s, &rewriteFn{Topic: out}, records))
					}
					if !commit {
						kafkaio.Discard(s, write(kafkaio.Read(s, kafkaio.ReadConfig{Source: source})))
						return
					}
					records, begun := kafkaio.ReadTracked(s, kafkaio.ReadConfig{Source: source})
					kafkaio.Commit(s, kafkaio.CommitConfig{Job: name, Brokers: brokers, Group: name}, begun, write(records))
				})
				if err := job.Wait(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*records/b.Elapsed().Seconds(), "records/s")
		})
	}
}
