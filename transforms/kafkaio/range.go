package kafkaio

import (
	"context"
	"fmt"
)

// Range is a part of one partition: the offsets [Start, End).
type Range struct {
	Topic      string
	Partition  int32
	Start, End int64
}

// Ranges asks what the partitions of a topic hold now, ascending by partition.
func Ranges(ctx context.Context, brokers, topic string) ([]Range, error) {
	source := Source{Job: "ranges", Brokers: brokers, Topic: topic, From: Earliest, To: &Latest}.withDefaults()
	source.RetryFor = askFor
	if err := joined(source.problems()); err != nil {
		return nil, err
	}
	parts, err := source.list(ctx)
	if err != nil {
		return nil, err
	}
	ranges := make([]Range, len(parts))
	for i, p := range parts {
		ranges[i] = Range(p)
	}
	return ranges, nil
}

// ReadRange visits the records of a range in order, on the caller's goroutine, and
// commits nothing. It returns nil at the end, the error of visit or of the broker,
// or the cause of ctx's end.
func ReadRange(ctx context.Context, brokers string, r Range, visit func(Record) error) error {
	if err := ValidBrokers(brokers); err != nil {
		return err
	}
	if r.Start < 0 || r.End < r.Start {
		return fmt.Errorf("%s[%d]: offsets [%d, %d) are no range", r.Topic, r.Partition, r.Start, r.End)
	}
	return follow(ctx, clientFor(brokers), partition(r), brokers, RetryFor, func(int64, int64) {}, visit)
}
