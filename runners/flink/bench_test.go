package flink

import (
	"context"
	"errors"
	"testing"
	"time"

	"millrace/pipelines/stage"
	"millrace/transforms/kafkaio"
)

// BenchmarkStages reports trajectories a second through score and advantage, on
// Prism in this process and on Flink with two slots, from the first sample to
// the last: what is waiting is read at full speed by then.
func BenchmarkStages(b *testing.B) {
	const groups = 500
	h := newBench(b)
	for _, c := range []struct {
		name  string
		start stage.Start
	}{{"prism", onPrism}, {"flink", h.start}} {
		b.Run(c.name, func(b *testing.B) {
			var took time.Duration
			for b.Loop() {
				topics := h.topics(b, "bench")
				h.trajectories(b, topics.Trajectories, 0, groups)
				h.stages(b, c.start, topics)
				took += h.span(b, topics.Samples, groups)
			}
			b.ReportMetric(float64(b.N)*groups*members/took.Seconds(), "trajectories/s")
		})
	}
}

// span is the time from the first record of a topic to the nth.
func (h bench) span(b *testing.B, topic string, n int) time.Duration {
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Minute)
	defer cancel()
	var first time.Time
	seen, enough := 0, errors.New("enough")
	err := kafkaio.Consume(ctx, kafkaio.Source{Job: "span", Brokers: h.brokers, Topic: topic, From: kafkaio.Earliest}, func(kafkaio.Record) error {
		if seen++; seen == 1 {
			first = time.Now()
		}
		if seen == n {
			return enough
		}
		return nil
	})
	if err != enough {
		b.Fatalf("%d of %d records: %v", seen, n, err)
	}
	return time.Since(first)
}
