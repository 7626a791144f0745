package kafkaio

import (
	"context"
	"maps"
	"slices"

	"github.com/segmentio/kafka-go"
)

// unknownSize is the size of a partition that the cluster does not tell.
const unknownSize = -1

// sizes asks how many bytes partitions have on the disks of all brokers, replicas
// included. A partition of which a replica is missing in the answers, since a
// broker or a disk is away, is left out: a part of its size would look like all of
// it. So are all where the principal may not describe the cluster, or the brokers
// do not know the question.
func (c *client) sizes(ctx context.Context, topics map[string]kafka.Topic) (map[partitionKey]int64, error) {
	request := &logDirsRequest{}
	missing := make(map[partitionKey]int) // replicas that nobody has told of yet
	for _, name := range slices.Sorted(maps.Keys(topics)) {
		asked := logDirsTopic{Topic: name}
		for _, p := range topics[name].Partitions {
			asked.Partitions = append(asked.Partitions, int32(p.ID))
			missing[partitionKey{topic: name, partition: int32(p.ID)}] = len(p.Replicas)
		}
		request.Topics = append(request.Topics, asked)
	}
	sizes := make(map[partitionKey]int64)
	err := c.retry(ctx, askFor, "asking for the sizes of topics", func(ctx context.Context) error {
		response, err := c.transport.RoundTrip(ctx, c.kafka.Addr, request)
		if err != nil {
			return err
		}
		for _, dir := range response.(*logDirsResponse).Dirs {
			for _, t := range dir.Topics {
				for _, p := range t.Partitions {
					at := partitionKey{topic: t.Name, partition: p.ID}
					sizes[at] += p.Bytes
					if !p.Future {
						missing[at]--
					}
				}
			}
		}
		return nil
	})
	maps.DeleteFunc(sizes, func(at partitionKey, _ int64) bool { return missing[at] > 0 })
	return sizes, err
}
