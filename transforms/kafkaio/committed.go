package kafkaio

import "context"

// CommittedOffsets returns the committed position of a group in each partition of
// a topic: the next offset to read. A partition for which the group has never
// committed is at the beginning of its log.
func CommittedOffsets(ctx context.Context, brokers, group, topic string) (map[int32]int64, error) {
	c := clientFor(brokers)
	ids, err := c.partitions(ctx, RetryFor, topic)
	if err != nil {
		return nil, err
	}
	offsets := make(map[int32]int64, len(ids))
	for _, id := range ids {
		b, err := c.bounds(ctx, RetryFor, group, topic, id)
		if err != nil {
			return nil, err
		}
		if offsets[id] = b.committed; b.committed < 0 {
			offsets[id] = b.first
		}
	}
	return offsets, nil
}
