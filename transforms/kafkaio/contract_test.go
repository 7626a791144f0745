package kafkaio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/schemas"
)

// TestContract runs what this package promises of a broker against the fake
// one; TestKafka runs it against real ones: a fake is worth as much as the suite
// that the real thing passes too.
func TestContract(t *testing.T) { contract(t, startFake(t).ListenAddrs()[0]) }

// contract is the suite. options are how a client of another library reaches
// these brokers.
func contract(t *testing.T, brokers string, options ...kgo.Opt) {
	for _, s := range []struct {
		name string
		test func(t *testing.T, brokers string)
	}{
		{"topics", testTopics},
		{"topic settings", testTopicSettings},
		{"round trip", testRoundTrip},
		{"large records", testLargeRecords},
		{"blobs", testBlobs},
		{"positions", testPositions},
		{"growth", testGrowth},
		{"inspection", testInspection},
		{"sizes", func(t *testing.T, brokers string) { testSizes(t, brokers, options) }},
		{"control records", func(t *testing.T, brokers string) { testControlRecords(t, brokers, options) }},
	} {
		t.Run(s.name, func(t *testing.T) { s.test(t, brokers) })
	}
}

// testGrowth: records of a partition that was not there when reading began are
// not silently left behind.
func testGrowth(t *testing.T, brokers string) {
	topic := newTopic(t, brokers, 1)
	write := func() {
		if err := Produce(t.Context(), brokers, Output{Topic: topic, Key: fmt.Append(nil, time.Now()), Value: []byte("v")}); err != nil {
			t.Fatal(err)
		}
	}
	write()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := Scan(ctx, brokers, topic, nil, func(Record) error {
		c := clientFor(brokers).kafka
		response, err := c.CreatePartitions(ctx, &kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{{Name: topic, Count: 2}}})
		if err == nil {
			err = response.Errors[topic]
		}
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "topic "+topic+" has 2 partitions and had 1") {
		t.Errorf("following a topic that grew: %v", err)
	}
	for range 19 {
		write()
	}
	if records := consumeAll(t, Source{Brokers: brokers, Topic: topic, From: Earliest}); len(records) != 20 {
		t.Errorf("started again: %d of 20 records", len(records))
	}
}

func startFake(t testing.TB, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	options = append([]kfake.Opt{kfake.NumBrokers(1), kfake.BrokerConfigs(map[string]string{"message.max.bytes": fmt.Sprint(maxBatchBytes)})}, options...)
	c, err := kfake.NewCluster(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// newTopic makes a topic that no other test has.
func newTopic(t testing.TB, brokers string, partitions int) string {
	t.Helper()
	topic := unique(t, "topic")
	if err := EnsureTopics(t.Context(), brokers, TopicSpec{Name: topic, Partitions: partitions}); err != nil {
		t.Fatal(err)
	}
	return topic
}

// unique makes a name that no other test has.
func unique(t testing.TB, name string) string {
	clean := strings.NewReplacer("/", ".", " ", "_", "#", "_").Replace(t.Name())
	return fmt.Sprintf("%s.%s.%d", clean, name, time.Now().UnixNano())
}

// consumeAll reads what is there.
func consumeAll(t testing.TB, source Source) []Record {
	t.Helper()
	end := Latest
	source.Job, source.To = t.Name(), &end
	var records []Record
	err := Consume(t.Context(), source, func(r Record) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func testTopics(t *testing.T, brokers string) {
	topic := newTopic(t, brokers, 3)
	if err := EnsureTopics(t.Context(), brokers, TopicSpec{Name: topic, Partitions: 3}); err != nil {
		t.Errorf("again: %v", err)
	}
	err := EnsureTopics(t.Context(), brokers, TopicSpec{Name: topic, Partitions: 4})
	if err == nil || !strings.Contains(err.Error(), "has 3 partitions, not 4") {
		t.Errorf("another number of partitions: %v", err)
	}
	source := Source{Job: t.Name(), Brokers: brokers, Topic: "no.such.topic", RetryFor: time.Nanosecond}
	err = Consume(t.Context(), source, func(Record) error { return nil })
	if !errors.Is(err, ErrTopicMissing) || !strings.Contains(err.Error(), "no.such.topic") {
		t.Errorf("a missing topic: %v", err)
	}
}

func testRoundTrip(t *testing.T, brokers string) {
	topic := newTopic(t, brokers, 4)
	var outputs []Output
	for i := range 400 {
		outputs = append(outputs, Output{Topic: topic, Key: fmt.Appendf(nil, "group %d", i%20), Value: fmt.Append(nil, i), ID: fmt.Sprintf("id-%d", i)})
	}
	if err := Produce(t.Context(), brokers, outputs...); err != nil {
		t.Fatal(err)
	}
	records := consumeAll(t, Source{Brokers: brokers, Topic: topic})
	if len(records) != len(outputs) {
		t.Fatalf("%d of %d records came back", len(records), len(outputs))
	}
	home := make(map[string]int32) // key -> partition
	last := make(map[string]int)   // key -> value seen last
	next := make(map[int32]int64)  // partition -> offset expected
	partitions := map[int32]bool{} // with records
	for _, r := range records {
		key, value := string(r.Key), 0
		fmt.Sscan(string(r.Value), &value)
		if p, seen := home[key]; seen && p != r.Source.Partition {
			t.Fatalf("%s lies in partitions %d and %d", key, p, r.Source.Partition)
		}
		if before, seen := last[key]; seen && value <= before {
			t.Fatalf("%s: %d came after %d", key, value, before)
		}
		if r.Source.Topic != topic || r.Source.Offset != next[r.Source.Partition] {
			t.Fatalf("source %+v, expected offset %d", r.Source, next[r.Source.Partition])
		}
		if len(r.Headers) != 1 || r.Headers[0].Key != "id" || string(r.Headers[0].Value) != fmt.Sprintf("id-%d", value) {
			t.Fatalf("headers of %d: %v", value, r.Headers)
		}
		if age := time.Since(time.UnixMilli(r.Time)); age < -time.Hour || age > time.Hour {
			t.Fatalf("time %d is %s ago", r.Time, age)
		}
		home[key], last[key], partitions[r.Source.Partition] = r.Source.Partition, value, true
		next[r.Source.Partition]++
	}
	if len(partitions) < 3 {
		t.Errorf("20 keys lie in %d of 4 partitions", len(partitions))
	}
	// The receiver owns what it got: later fetches must not write into it.
	before := bytes.Clone(records[0].Value)
	consumeAll(t, Source{Brokers: brokers, Topic: topic})
	if !bytes.Equal(before, records[0].Value) {
		t.Error("a record changed after it was delivered")
	}
}

func testLargeRecords(t *testing.T, brokers string) {
	topic := newTopic(t, brokers, 1)
	large := bytes.Repeat([]byte("0123456789abcdef"), 15<<20/16)
	outputs := []Output{{Topic: topic, Value: []byte("before")}, {Topic: topic, Value: large}, {Topic: topic, Value: []byte{}}, {Topic: topic}}
	if err := Produce(t.Context(), brokers, outputs...); err != nil {
		t.Fatal(err)
	}
	records := consumeAll(t, Source{Brokers: brokers, Topic: topic})
	if len(records) != 4 || !bytes.Equal(records[1].Value, large) {
		t.Fatalf("15 MiB did not come back among %d records", len(records))
	}
	if records[2].Value == nil || records[3].Value != nil {
		t.Errorf("an empty and a missing value came back as %v and %v", records[2].Value, records[3].Value)
	}
	err := Produce(t.Context(), brokers, Output{Topic: topic, Value: make([]byte, maxBatchBytes+1)})
	if err == nil || !strings.Contains(err.Error(), "larger than") || !strings.Contains(err.Error(), topic) {
		t.Errorf("a record over the limit: %v", err)
	}
}

func testPositions(t *testing.T, brokers string) {
	topic := newTopic(t, brokers, 1)
	var outputs []Output
	for i := range 10 {
		outputs = append(outputs, Output{Topic: topic, Value: fmt.Append(nil, i)})
	}
	if err := Produce(t.Context(), brokers, outputs...); err != nil {
		t.Fatal(err)
	}
	c, group := clientFor(brokers), "group."+topic
	ctx := context.Background()
	b, err := c.bounds(ctx, RetryFor, group, topic, 0)
	if want := (bounds{first: 0, last: 10, committed: -1}); err != nil || b != want {
		t.Fatalf("bounds %+v, %v; want %+v", b, err, want)
	}
	if err := c.commit(ctx, RetryFor, group, topic, 0, 4); err != nil {
		t.Fatal(err)
	}
	b, err = c.bounds(ctx, RetryFor, group, topic, 0)
	if want := (bounds{first: 0, last: 10, committed: 4}); err != nil || b != want {
		t.Fatalf("bounds %+v, %v; want %+v", b, err, want)
	}
	values := func(s Source) string {
		s.Brokers, s.Topic = brokers, topic
		var all []string
		for _, r := range consumeAll(t, s) {
			all = append(all, string(r.Value))
		}
		return strings.Join(all, "")
	}
	for want, source := range map[string]Source{
		"456789":     {Group: group},
		"0123456789": {},
		"789":        {From: At(7)},
		"":           {From: Latest, Group: group},
		"23456789":   {Group: group, Positions: []schemas.Position{{Topic: "other", Offset: 9}, {Topic: topic, Offset: 2}}},
	} {
		if got := values(source); got != want {
			t.Errorf("%+v: read %q, want %q", source, got, want)
		}
	}
	err = Consume(t.Context(), Source{Job: t.Name(), Brokers: brokers, Topic: topic, From: At(11)}, nil)
	if !errors.Is(err, ErrOffsetOutOfRange) || !strings.Contains(err.Error(), topic+"[0]") {
		t.Errorf("a position behind the end: %v", err)
	}
}

// testControlRecords: a log whose tail is a control record, which kafka-go
// hides, must not be read in a circle or for ever.
func testControlRecords(t *testing.T, brokers string, options []kgo.Opt) {
	topic := newTopic(t, brokers, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	producer, err := kgo.NewClient(append(options, kgo.SeedBrokers(brokers), kgo.TransactionalID(topic), kgo.DefaultProduceTopic(topic))...)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	for i := range 3 { // offsets 0 2 4 are data, 1 3 5 control
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := producer.ProduceSync(ctx, kgo.StringRecord(fmt.Sprint(i))).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := producer.EndTransaction(ctx, kgo.TryCommit); err != nil {
			t.Fatal(err)
		}
	}
	var offsets []int64
	for _, r := range consumeAll(t, Source{Brokers: brokers, Topic: topic}) {
		offsets = append(offsets, r.Source.Offset)
	}
	if !slices.Equal(offsets, []int64{0, 2, 4}) {
		t.Errorf("read offsets %v", offsets)
	}
}
