package kafkaio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"millrace/schemas"
)

// askFor is how long a broker that fails is asked again while a person waits
// for the answer.
const askFor = 10 * time.Second

// Topic is what a cluster says about one topic.
type Topic struct {
	Name       string           `json:"name"`
	Partitions []PartitionState `json:"partitions"` // ascending by id
	// Settings are those that are not Kafka's defaults, sorted by name; empty when
	// this principal may not ask.
	Settings []Setting `json:"settings"`
}

// PartitionState is what a cluster says about one partition.
type PartitionState struct {
	ID int32 `json:"id"`
	// First is the offset of the oldest record kept, Last the next to be written.
	First int64 `json:"first"`
	Last  int64 `json:"last"`
	// Replicas is the number of brokers that hold the partition, InSync how many
	// of them have all of it.
	Replicas int `json:"replicas"`
	InSync   int `json:"in_sync"`
	// Bytes is what the partition takes on the disks of all brokers, replicas
	// included; -1 where the cluster does not tell.
	Bytes int64 `json:"bytes"`
}

// Setting is one setting of a topic.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Own says that it was set on the topic; otherwise the broker's configuration
	// has it.
	Own bool `json:"own"`
}

// Records is the number of offsets that the topic holds: the number of records,
// or more where records were compacted away or transactions left their marks.
func (t Topic) Records() int64 {
	var n int64
	for _, p := range t.Partitions {
		n += p.Last - p.First
	}
	return n
}

// Bytes is what the topic takes on the disks of all brokers, replicas included; -1
// where the cluster does not tell it of every partition.
func (t Topic) Bytes() int64 {
	var n int64
	for _, p := range t.Partitions {
		if p.Bytes == unknownSize {
			return unknownSize
		}
		n += p.Bytes
	}
	return n
}

// Topics asks for the topics of a cluster whose name keep accepts, sorted by
// name; Kafka's own are left out.
func Topics(ctx context.Context, brokers string, keep func(name string) bool) ([]Topic, error) {
	c := clientFor(brokers)
	all, err := c.topics(ctx, askFor)
	if err != nil {
		return nil, err
	}
	offsets := make(map[string][]kafka.OffsetRequest)
	maps.DeleteFunc(all, func(name string, t kafka.Topic) bool { return t.Internal || !keep(name) })
	for name, t := range all {
		for _, p := range t.Partitions {
			offsets[name] = append(offsets[name], kafka.FirstOffsetOf(p.ID), kafka.LastOffsetOf(p.ID))
		}
	}
	if len(all) == 0 {
		return []Topic{}, nil
	}
	ends, err := c.ends(ctx, offsets)
	if err != nil {
		return nil, err
	}
	settings, err := c.settings(ctx, askFor, slices.Sorted(maps.Keys(all)))
	if err != nil {
		return nil, err
	}
	sizes, err := c.sizes(ctx, all)
	if err != nil {
		return nil, err
	}
	topics := make([]Topic, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		topic := Topic{Name: name, Settings: []Setting{}}
		for _, p := range all[name].Partitions {
			at := partitionKey{topic: name, partition: int32(p.ID)}
			size, told := sizes[at]
			if !told {
				size = unknownSize
			}
			topic.Partitions = append(topic.Partitions, PartitionState{
				ID: at.partition, First: ends[at].first, Last: ends[at].last, Replicas: len(p.Replicas), InSync: len(p.Isr), Bytes: size,
			})
		}
		slices.SortFunc(topic.Partitions, func(a, b PartitionState) int { return cmp.Compare(a.ID, b.ID) })
		for _, e := range settings[name] {
			if differs(e) {
				topic.Settings = append(topic.Settings, Setting{Name: e.ConfigName, Value: e.ConfigValue, Own: e.ConfigSource == sourceTopic})
			}
		}
		slices.SortFunc(topic.Settings, func(a, b Setting) int { return cmp.Compare(a.Name, b.Name) })
		topics = append(topics, topic)
	}
	return topics, nil
}

// Where a setting comes from, in Kafka's protocol (DescribeConfigs).
const (
	sourceTopic   = 1
	sourceDefault = 5
)

// differs says that a setting has another value than Kafka gives it by default.
func differs(e kafka.DescribeConfigResponseConfigEntry) bool {
	for _, s := range e.ConfigSynonyms {
		if s.ConfigSource == sourceDefault {
			return s.ConfigValue != e.ConfigValue
		}
	}
	return e.ConfigSource != sourceDefault
}

// ends asks for the ends of many partitions at once.
func (c *client) ends(ctx context.Context, partitions map[string][]kafka.OffsetRequest) (map[partitionKey]bounds, error) {
	ends := make(map[partitionKey]bounds)
	err := c.retry(ctx, askFor, "asking for offsets", func(ctx context.Context) error {
		response, err := c.kafka.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: partitions})
		if err != nil {
			return err
		}
		for topic, answers := range response.Topics {
			for _, p := range answers {
				if p.Error != nil {
					return fmt.Errorf("%s[%d]: %w", topic, p.Partition, p.Error)
				}
				ends[partitionKey{topic: topic, partition: int32(p.Partition)}] = bounds{first: p.FirstOffset, last: p.LastOffset}
			}
		}
		return nil
	})
	return ends, err
}

// settings asks for the settings of topics; a topic whose settings this
// principal may not ask for is left out.
func (c *client) settings(ctx context.Context, budget time.Duration, topics []string) (map[string][]kafka.DescribeConfigResponseConfigEntry, error) {
	byTopic := make(map[string][]kafka.DescribeConfigResponseConfigEntry)
	if len(topics) == 0 {
		return byTopic, nil
	}
	request := &kafka.DescribeConfigsRequest{IncludeSynonyms: true}
	for _, topic := range topics {
		request.Resources = append(request.Resources, kafka.DescribeConfigRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic})
	}
	err := c.retry(ctx, budget, "asking for the settings of topics", func(ctx context.Context) error {
		response, err := c.kafka.DescribeConfigs(ctx, request)
		if err != nil {
			return err
		}
		for _, r := range response.Resources {
			switch {
			case errors.Is(r.Error, kafka.TopicAuthorizationFailed):
			case r.Error != nil:
				return fmt.Errorf("topic %s: %w", r.ResourceName, r.Error)
			default:
				byTopic[r.ResourceName] = r.ConfigEntries
			}
		}
		return nil
	})
	return byTopic, err
}

// Groups lists the consumer groups of a cluster, sorted.
func Groups(ctx context.Context, brokers string) ([]string, error) {
	c := clientFor(brokers)
	if _, err := c.topics(ctx, askFor); err != nil { // whom to ask is known after it
		return nil, err
	}
	var groups []string
	err := c.retry(ctx, askFor, "listing consumer groups", func(ctx context.Context) error {
		response, err := c.kafka.ListGroups(ctx, &kafka.ListGroupsRequest{})
		if err != nil {
			return err
		}
		groups = groups[:0]
		for _, g := range response.Groups {
			groups = append(groups, g.GroupID)
		}
		return response.Error
	})
	slices.Sort(groups)
	return groups, err
}

// Commits are the positions that a group has committed, sorted by topic and
// partition; a group that nobody ever committed for has none.
func Commits(ctx context.Context, brokers, group string) ([]schemas.Position, error) {
	c := clientFor(brokers)
	var positions []schemas.Position
	err := c.retry(ctx, askFor, "asking for the positions of group "+group, func(ctx context.Context) error {
		response, err := c.kafka.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group})
		if err != nil {
			return err
		}
		if errors.Is(response.Error, kafka.GroupIdNotFound) {
			return nil
		}
		positions = positions[:0]
		for topic, partitions := range response.Topics {
			for _, p := range partitions {
				if p.Error != nil {
					return fmt.Errorf("%s[%d]: %w", topic, p.Partition, p.Error)
				}
				positions = append(positions, schemas.Position{Topic: topic, Partition: int32(p.Partition), Offset: p.CommittedOffset})
			}
		}
		return response.Error
	})
	slices.SortFunc(positions, func(a, b schemas.Position) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return positions, err
}

// Depth is the number of offsets that a topic holds, and how many of them are
// behind the position that a group has committed, over all partitions: 0 when the
// group has processed everything that was there before the call, durably. To no
// group, all are.
func Depth(ctx context.Context, brokers, group, topic string) (records, behind int64, err error) {
	c := clientFor(brokers)
	partitions, err := c.partitions(ctx, RetryFor, topic)
	if err != nil {
		return 0, 0, err
	}
	for _, p := range partitions {
		b, err := c.bounds(ctx, RetryFor, group, topic, p)
		if err != nil {
			return 0, 0, err
		}
		records += b.last - b.first
		behind += max(b.last-max(b.first, b.committed), 0)
	}
	return records, behind, nil
}
