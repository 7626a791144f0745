package flink

import (
	"context"
	"errors"
	"testing"
	"time"

	"millrace/pipelines/stage"
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
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

// BenchmarkAdvantage reports rewarded records a second through the advantage stage
// alone, which groups by keyed state, on the same two runners in the same way. Some
// records are there twice; those count too.
func BenchmarkAdvantage(b *testing.B) {
	const groups = 2000
	h := newBench(b)
	for _, c := range []struct {
		name  string
		start stage.Start
	}{{"prism", onPrism}, {"flink", h.start}} {
		b.Run(c.name, func(b *testing.B) {
			var took time.Duration
			var records int64
			for b.Loop() {
				topics := h.topics(b, "bench")
				s := h.stream(topics, "advantage")
				h.trajectories(b, topics.Trajectories, 0, groups)
				records += h.scored(b, topics)
				h.run(b, c.start, s.Job, stage.Advantage(s, filter.Config{Mode: filter.Compact}, advantage.DefaultConfig()))
				took += h.span(b, topics.Samples, groups)
			}
			b.ReportMetric(float64(records)/took.Seconds(), "records/s")
		})
	}
}

// scored has every trajectory scored, on Prism, and returns how many records that
// made.
func (h bench) scored(b *testing.B, topics stage.Topics) int64 {
	s := h.stream(topics, "score")
	p, err := stage.ScoreWith(s, stage.Settings{Maker: "test", Text: []byte("salt")}, 16)
	if err != nil {
		b.Fatal(err)
	}
	h.run(b, onPrism, s.Job, p)
	h.caughtUp(b, topics.Trajectories, s.Job)
	records, _, err := kafkaio.Depth(b.Context(), h.brokers, "", topics.Rewarded)
	if err != nil {
		b.Fatal(err)
	}
	return records
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
