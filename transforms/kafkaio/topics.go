package kafkaio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
)

// TopicSpec is a topic to create.
type TopicSpec struct {
	Name       string
	Partitions int
	// Replicas is the number of brokers that hold each record; 0 is the broker's
	// default.
	Replicas int
	// Retention is how long records are kept; 0 is for ever.
	Retention time.Duration
	// Compact keeps the newest record of each key alone: the topic is a table.
	Compact bool
}

// entries are the settings that a new topic gets. The rest is the broker's
// default.
func (s TopicSpec) entries(batchBytes int) []kafka.ConfigEntry {
	policy := "delete"
	if s.Compact {
		policy = "compact"
	}
	return []kafka.ConfigEntry{
		{ConfigName: "cleanup.policy", ConfigValue: policy},
		{ConfigName: "compression.type", ConfigValue: "producer"}, // the broker need not unpack what comes packed
		{ConfigName: "max.message.bytes", ConfigValue: strconv.Itoa(batchBytes)},
		{ConfigName: "retention.bytes", ConfigValue: "-1"},
		{ConfigName: "retention.ms", ConfigValue: strconv.FormatInt(s.retentionMS(), 10)},
	}
}

func (s TopicSpec) retentionMS() int64 {
	if s.Retention == 0 {
		return -1
	}
	return s.Retention.Milliseconds()
}

// EnsureTopics creates the topics that do not exist, with a message size limit
// of 64 MiB, or the smaller one of [Offload]. A topic that exists is never
// altered: what would lose records or fail later is an error that says how to
// help it (another number of partitions, since keys would move; a smaller size
// limit; compaction of a log), and records that are deleted earlier than asked
// are a warning in the log.
//
// A principal that may not create topics can still use those that exist.
func EnsureTopics(ctx context.Context, brokers string, specs ...TopicSpec) error {
	c := clientFor(brokers)
	have, err := c.topics(ctx, RetryFor)
	if err != nil {
		return err
	}
	request := &kafka.CreateTopicsRequest{}
	var old []string
	for _, spec := range specs {
		if _, exists := have[spec.Name]; exists {
			old = append(old, spec.Name)
			continue
		}
		request.Topics = append(request.Topics, kafka.TopicConfig{
			Topic: spec.Name, NumPartitions: spec.Partitions, ReplicationFactor: cmp.Or(spec.Replicas, -1), ConfigEntries: spec.entries(c.batchBytes),
		})
	}
	if len(request.Topics) > 0 {
		err := c.retry(ctx, RetryFor, "creating topics", func(ctx context.Context) error {
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
	}
	settings, err := c.settings(ctx, RetryFor, old)
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
		if err := spec.compare(brokers, c.batchBytes, values(settings[spec.Name])); err != nil {
			return err
		}
	}
	return nil
}

// compare looks at the settings of a topic that existed; none are known of one
// that may not be described.
func (s TopicSpec) compare(brokers string, batchBytes int, settings map[string]string) error {
	alter := func(setting string) string {
		return fmt.Sprintf("kafka-configs.sh --bootstrap-server %s --alter --topic %s --add-config %s", brokers, s.Name, setting)
	}
	if limit, err := strconv.Atoi(settings["max.message.bytes"]); err == nil && limit < batchBytes {
		return fmt.Errorf("kafka %s: topic %s takes batches of %d bytes, and records may need %d: raise it (%s), keep large values in a blob store (kafka.blobs.url) or choose another topic prefix",
			brokers, s.Name, limit, batchBytes, alter(fmt.Sprintf("max.message.bytes=%d", batchBytes)))
	}
	if strings.Contains(settings["cleanup.policy"], "compact") && !s.Compact {
		return fmt.Errorf("kafka %s: topic %s is compacted, which deletes all but the newest record of a group: change it (%s) or choose another topic prefix",
			brokers, s.Name, alter("cleanup.policy=delete"))
	}
	kept, err := strconv.ParseInt(settings["retention.ms"], 10, 64)
	if err == nil && strings.Contains(settings["cleanup.policy"], "delete") && !s.Compact && kept >= 0 && (s.Retention == 0 || kept < s.retentionMS()) {
		slog.Warn(fmt.Sprintf("kafka %s: topic %s deletes records after %s: a run that is resumed later cannot read them; to keep them: %s",
			brokers, s.Name, time.Duration(kept)*time.Millisecond, alter(fmt.Sprintf("retention.ms=%d", s.retentionMS()))))
	}
	return nil
}

// values are settings by name.
func values(entries []kafka.DescribeConfigResponseConfigEntry) map[string]string {
	byName := make(map[string]string, len(entries))
	for _, e := range entries {
		byName[e.ConfigName] = e.ConfigValue
	}
	return byName
}

// topics are the topics that the cluster shows to this principal, as far as
// kafka-go's cache has them: it is a few seconds behind what others create.
func (c *client) topics(ctx context.Context, budget time.Duration) (map[string]kafka.Topic, error) {
	byName := make(map[string]kafka.Topic)
	err := c.retry(ctx, budget, "listing topics", func(ctx context.Context) error {
		response, err := c.kafka.Metadata(ctx, &kafka.MetadataRequest{})
		if err != nil {
			return err
		}
		for _, t := range response.Topics {
			byName[t.Name] = t
		}
		return nil
	})
	return byName, err
}

// partitions lists the partitions of a topic in ascending order. kafka-go
// answers from a cache, so a topic that somebody else made a moment ago is
// asked for again until budget is used up.
func (c *client) partitions(ctx context.Context, budget time.Duration, topic string) ([]int32, error) {
	var ids []int32
	err := c.retry(ctx, budget, "listing the partitions of "+topic, func(ctx context.Context) error {
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
	err := c.retry(ctx, budget, what, func(ctx context.Context) error {
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
		b.committed, err = c.fetchPosition(ctx, group, topic, partition)
		return err
	})
	return b, err
}

// groupPosition asks for the position of a group, -1 when it has none.
func (c *client) groupPosition(ctx context.Context, budget time.Duration, group, topic string, partition int32) (int64, error) {
	position := int64(-1)
	what := fmt.Sprintf("asking for the position of group %s in %s[%d]", group, topic, partition)
	err := c.retry(ctx, budget, what, func(ctx context.Context) (err error) {
		position, err = c.fetchPosition(ctx, group, topic, partition)
		return err
	})
	return position, err
}

func (c *client) fetchPosition(ctx context.Context, group, topic string, partition int32) (int64, error) {
	commits, err := c.kafka.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: {int(partition)}}})
	if err != nil {
		return -1, err
	}
	if errors.Is(commits.Error, kafka.GroupIdNotFound) {
		return -1, nil // nobody has ever committed for it
	}
	if commits.Error != nil {
		return -1, commits.Error
	}
	position := int64(-1)
	for _, p := range commits.Topics[topic] {
		if p.Error != nil {
			return -1, p.Error
		}
		position = p.CommittedOffset
	}
	return position, nil
}

// commit stores the position of a group without being its member.
func (c *client) commit(ctx context.Context, budget time.Duration, group, topic string, partition int32, position int64) error {
	what := fmt.Sprintf("committing %s[%d]@%d for group %s", topic, partition, position, group)
	return c.retry(ctx, budget, what, func(ctx context.Context) error {
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
