package kafkaio

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Consume reads a topic outside of a pipeline and calls handle for each record,
// one at a time, the records of a partition in order. It returns nil when every
// partition is read to Source.To, the first error of handle or of the broker, or
// the cause of ctx's end. It starts where Source says and commits nothing.
func Consume(ctx context.Context, source Source, handle func(Record) error) error {
	source = source.withDefaults()
	if err := joined(source.problems()); err != nil {
		return err
	}
	parts, err := source.list(ctx)
	if err != nil {
		return err
	}
	stats := countersFor(source.Job)
	var one sync.Mutex // held over handle
	readers, ctx := errgroup.WithContext(ctx)
	if source.To == nil {
		readers.Go(func() error { return clientFor(source.Brokers).awaitGrowth(ctx, source.Topic, len(parts)) })
	}
	for _, at := range parts {
		p := stats.of(at.Topic, at.Partition)
		readers.Go(func() error {
			return follow(ctx, clientFor(source.Brokers), at, source.Brokers, source.RetryFor, p.progress, func(r Record) error {
				p.read(len(r.Value))
				one.Lock()
				defer one.Unlock()
				return handle(r)
			})
		})
	}
	return readers.Wait()
}
