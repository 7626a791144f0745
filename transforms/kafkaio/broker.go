package kafkaio

import (
	"context"
	"time"
)

// broker is what a lane, a reader and a book need of a cluster. *client is the
// real one; tests have one in memory, without sockets, whose time they own.
type broker interface {
	fetcher
	// produce returns when all outputs are durable, or with an error after budget.
	produce(ctx context.Context, budget time.Duration, outputs []Output) error
	// commit stores a group's position.
	commit(ctx context.Context, budget time.Duration, group, topic string, partition int32, position int64) error
	// groupPosition is what a group has committed, -1 when it has not.
	groupPosition(ctx context.Context, budget time.Duration, group, topic string, partition int32) (int64, error)
}
