package kafkaio

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
)

// TopicSpec is a topic to create. Replicas 0 means 1.
type TopicSpec struct {
	Name       string
	Partitions int
	Replicas   int
}

// EnsureTopics creates the topics that do not exist, with a message size limit
// of 64 MiB and no retention limit in time (the log is the data). A topic that
// exists is left as it is, except that a different number of partitions is an
// error: keys would move.
func EnsureTopics(ctx context.Context, brokers string, specs ...TopicSpec) error {
	c := clientFor(brokers)
	request := &kafka.CreateTopicsRequest{}
	for _, spec := range specs {
		request.Topics = append(request.Topics, kafka.TopicConfig{
			Topic:             spec.Name,
			NumPartitions:     spec.Partitions,
			ReplicationFactor: max(spec.Replicas, 1),
			ConfigEntries: []kafka.ConfigEntry{
				{ConfigName: "max.message.bytes", ConfigValue: strconv.Itoa(maxBatchBytes)},
				{ConfigName: "retention.ms", ConfigValue: "-1"},
			},
		})
	}
	err := retry(ctx, RetryFor, brokers, "creating topics", func(ctx context.Context) error {
		response, err := c.kafka.CreateTopics(ctx, request)
		if err != nil {
			return err
		}
		for topic, err := range response.Errors {
			if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
				return fmt.Errorf("topic %s: %w", topic, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, spec := range specs {
		partitions, err := c.partitions(ctx, RetryFor, spec.Name)
		if err != nil {
			return err
		}
		if len(partitions) != spec.Partitions {
			return fmt.Errorf("kafka %s: topic %s has %d partitions, not %d: choose another topic prefix or the same number", brokers, spec.Name, len(partitions), spec.Partitions)
		}
	}
	return nil
}

// partitions lists the partitions of a topic in ascending order. kafka-go
// answers from a cache, so a topic that somebody else made a moment ago is
// asked for again until budget is used up.
func (c *client) partitions(ctx context.Context, budget time.Duration, topic string) ([]int32, error) {
	var ids []int32
	err := retry(ctx, budget, c.brokers, "listing the partitions of "+topic, func(ctx context.Context) error {
		response, err := c.kafka.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
		if err != nil {
			return err
		}
		ids = ids[:0]
		for _, t := range response.Topics {
			if t.Error != nil {
				return t.Error
			}
			for _, p := range t.Partitions {
				ids = append(ids, int32(p.ID))
			}
		}
		if len(ids) == 0 {
			return kafka.UnknownTopicOrPartition
		}
		return nil
	})
	slices.Sort(ids)
	return ids, err
}

// bounds asks for the ends of a partition's log and, if group is not empty, for
// the group's committed position.
func (c *client) bounds(ctx context.Context, budget time.Duration, group, topic string, partition int32) (bounds, error) {
	b := bounds{committed: -1}
	what := fmt.Sprintf("asking for the offsets of %s[%d]", topic, partition)
	err := retry(ctx, budget, c.brokers, what, func(ctx context.Context) error {
		response, err := c.kafka.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{
			topic: {kafka.FirstOffsetOf(int(partition)), kafka.LastOffsetOf(int(partition))},
		}})
		if err != nil {
			return err
		}
		for _, p := range response.Topics[topic] {
			if p.Error != nil {
				return p.Error
			}
			b.first, b.last = p.FirstOffset, p.LastOffset
		}
		if group == "" {
			return nil
		}
		commits, err := c.kafka.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: {int(partition)}}})
		if err != nil {
			return err
		}
		if errors.Is(commits.Error, kafka.GroupIdNotFound) {
			return nil // nobody has ever committed for it
		}
		if commits.Error != nil {
			return commits.Error
		}
		for _, p := range commits.Topics[topic] {
			if p.Error != nil {
				return p.Error
			}
			b.committed = p.CommittedOffset
		}
		return nil
	})
	return b, err
}

// commit stores the position of a group without being its member.
func (c *client) commit(ctx context.Context, budget time.Duration, group, topic string, partition int32, position int64) error {
	what := fmt.Sprintf("committing %s[%d]@%d for group %s", topic, partition, position, group)
	return retry(ctx, budget, c.brokers, what, func(ctx context.Context) error {
		response, err := c.kafka.OffsetCommit(ctx, &kafka.OffsetCommitRequest{
			GroupID:      group,
			GenerationID: -1, // no member, no generation
			Topics:       map[string][]kafka.OffsetCommit{topic: {{Partition: int(partition), Offset: position}}},
		})
		if err != nil {
			return err
		}
		for _, p := range response.Topics[topic] {
			if p.Error != nil {
				return p.Error
			}
		}
		return nil
	})
}
