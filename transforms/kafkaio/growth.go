package kafkaio

import (
	"context"
	"fmt"
)

// growthEvery is how often the partitions of a topic that is followed are counted.
// kafka-go answers from its cache, which is younger than metadataTTL.
const growthEvery = metadataTTL

// awaitGrowth returns an error when the topic has more partitions than it had when
// reading began: what is written to a new one would never be read, and nothing
// would say so. A job that is started again reads them all. It returns nil when ctx
// ends.
//
// Counting fails while a broker is away; that is for those who read to report.
func (c *client) awaitGrowth(ctx context.Context, topic string, partitions int) error {
	for sleep(ctx, growthEvery) {
		ids, err := c.partitions(ctx, growthEvery, topic)
		if err == nil && len(ids) > partitions {
			return fmt.Errorf("kafka %s: topic %s has %d partitions and had %d when reading began: start again, and all of them are read",
				c.brokers, topic, len(ids), partitions)
		}
	}
	return nil
}
