package kafkaio

import (
	"bytes"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"millrace/schemas"
)

// warnings catches what is logged during a test.
func warnings(t *testing.T) *bytes.Buffer {
	t.Helper()
	before, text := slog.Default(), &bytes.Buffer{}
	slog.SetDefault(slog.New(slog.NewTextHandler(text, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return text
}

// TestCompare: what an existing topic may differ in.
func TestCompare(t *testing.T) {
	fits := map[string]string{"max.message.bytes": "67108864", "cleanup.policy": "delete", "retention.ms": "-1"}
	for _, c := range []struct {
		name          string
		spec          TopicSpec
		differs       map[string]string
		refused, warn string
	}{
		{name: "as created"},
		{name: "may not be described", differs: nil},
		{name: "takes more", differs: map[string]string{"max.message.bytes": "104857600"}},
		{name: "takes less", differs: map[string]string{"max.message.bytes": "1048588"},
			refused: "topic x takes batches of 1048588 bytes, and records may need 67108864: raise it (kafka-configs.sh --bootstrap-server b:1 --alter --topic x --add-config max.message.bytes=67108864), keep large values in a blob store (kafka.blobs.url) or choose another topic prefix"},
		{name: "a log that is compacted", differs: map[string]string{"cleanup.policy": "compact,delete"},
			refused: "topic x is compacted, which deletes all but the newest record of a group: change it (kafka-configs.sh --bootstrap-server b:1 --alter --topic x --add-config cleanup.policy=delete)"},
		{name: "a table that is compacted", spec: TopicSpec{Compact: true}, differs: map[string]string{"cleanup.policy": "compact", "retention.ms": "604800000"}},
		{name: "a week of a log for ever", differs: map[string]string{"retention.ms": "604800000"},
			warn: "topic x deletes records after 168h0m0s"},
		{name: "a week of a day", spec: TopicSpec{Retention: 24 * time.Hour}, differs: map[string]string{"retention.ms": "604800000"}},
		{name: "an hour of a day", spec: TopicSpec{Retention: 24 * time.Hour}, differs: map[string]string{"retention.ms": "3600000"},
			warn: "--add-config retention.ms=86400000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			logged := warnings(t)
			settings := maps.Clone(fits)
			maps.Copy(settings, c.differs)
			c.spec.Name = "x"
			err := c.spec.compare("b:1", maxBatchBytes, settings)
			if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Errorf("got  %v\nwant %s", err, c.refused)
			}
			if (logged.Len() > 0) != (c.warn != "") || !strings.Contains(logged.String(), c.warn) {
				t.Errorf("logged %q, want %q", logged, c.warn)
			}
		})
	}
	if err := (TopicSpec{}).compare("b:1", maxBatchBytes, nil); err != nil {
		t.Errorf("a topic that may not be described: %v", err)
	}
}

// testTopicSettings: new topics get their settings, and a topic that somebody
// made otherwise is refused and left as it is.
func testTopicSettings(t *testing.T, brokers string) {
	log, table := unique(t, "log"), unique(t, "table")
	err := EnsureTopics(t.Context(), brokers,
		TopicSpec{Name: log, Partitions: 2, Retention: 24 * time.Hour}, TopicSpec{Name: table, Partitions: 1, Replicas: 1, Compact: true})
	if err != nil {
		t.Fatal(err)
	}
	topics, err := Topics(t.Context(), brokers, func(name string) bool { return name == log || name == table })
	if err != nil || len(topics) != 2 {
		t.Fatalf("%d topics, %v", len(topics), err)
	}
	for i, want := range []map[string]string{
		{"max.message.bytes": "67108864", "retention.ms": "86400000"},
		{"max.message.bytes": "67108864", "retention.ms": "-1", "cleanup.policy": "compact"},
	} {
		for name, value := range want {
			if !slices.Contains(topics[i].Settings, Setting{Name: name, Value: value, Own: true}) {
				t.Errorf("%s: no %s=%s among %v", topics[i].Name, name, value, topics[i].Settings)
			}
		}
	}
	small := unique(t, "small")
	c := clientFor(brokers)
	_, err = c.kafka.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: small, NumPartitions: 1, ReplicationFactor: 1, ConfigEntries: []kafka.ConfigEntry{{ConfigName: "max.message.bytes", ConfigValue: "1000"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first refusal altered nothing
		err := EnsureTopics(t.Context(), brokers, TopicSpec{Name: small, Partitions: 1})
		if err == nil || !strings.Contains(err.Error(), small+" takes batches of 1000 bytes, and records may need 67108864") {
			t.Errorf("a topic for small records: %v", err)
		}
	}
}

// testInspection: what Topics, Groups, Commits and Depth say is what was done.
func testInspection(t *testing.T, brokers string) {
	topic, group := newTopic(t, brokers, 2), unique(t, "group")
	for i := range 3 {
		if err := Produce(t.Context(), brokers, Output{Topic: topic, Key: []byte("k"), Value: []byte{byte(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	topics, err := Topics(t.Context(), brokers, func(name string) bool { return name == topic })
	if err != nil || len(topics) != 1 {
		t.Fatalf("%v, %v", topics, err)
	}
	if got := topics[0]; got.Records() != 3 || len(got.Partitions) != 2 || got.Partitions[1].ID != 1 || got.Partitions[0].Replicas != 1 || got.Partitions[0].InSync != 1 {
		t.Errorf("%+v", got)
	}
	if none, err := Topics(t.Context(), brokers, func(string) bool { return false }); err != nil || len(none) != 0 {
		t.Errorf("no topic is wanted: %v, %v", none, err)
	}
	if before, err := Commits(t.Context(), brokers, group); err != nil || len(before) != 0 {
		t.Errorf("before any commit: %v, %v", before, err)
	}
	depth := func(group string, wantRecords, wantBehind int64) {
		t.Helper()
		if records, behind, err := Depth(t.Context(), brokers, group, topic); err != nil || records != wantRecords || behind != wantBehind {
			t.Errorf("group %q is %d of %d behind, %v; want %d of %d", group, behind, records, err, wantBehind, wantRecords)
		}
	}
	depth(group, 3, 3)
	depth("", 3, 3)
	full := topics[0].Partitions[0] // the key's partition
	if full.Last == 0 {
		full = topics[0].Partitions[1]
	}
	if err := clientFor(brokers).commit(t.Context(), RetryFor, group, topic, full.ID, full.Last); err != nil {
		t.Fatal(err)
	}
	depth(group, 3, 0)
	if err := clientFor(brokers).commit(t.Context(), RetryFor, group, topic, 1, 2); err != nil {
		t.Fatal(err)
	}
	want := []schemas.Position{{Topic: topic, Partition: 1, Offset: 2}}
	if full.ID == 0 {
		want = append([]schemas.Position{{Topic: topic, Partition: 0, Offset: 3}}, want...)
	}
	if got, err := Commits(t.Context(), brokers, group); err != nil || !slices.Equal(got, want) {
		t.Errorf("committed %v, %v; want %v", got, err, want)
	}
	if groups, err := Groups(t.Context(), brokers); err != nil || !slices.Contains(groups, group) {
		t.Errorf("%s is not among %v, %v", group, groups, err)
	}
}
