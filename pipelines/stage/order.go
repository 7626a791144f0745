package stage

import (
	"context"
	"fmt"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// Ordered returns the group ids of the work orders that the tasks topic holds:
// what a resumed run need not order again.
func Ordered(ctx context.Context, s Stream, run string) (map[string]bool, error) {
	ordered := map[string]bool{}
	err := kafkaio.Scan(ctx, s.Brokers, s.Topics.Tasks, &kafkaio.Latest, func(r kafkaio.Record) error {
		orders, err := schemas.Tasks.Decode(r.Value)
		if err != nil {
			return nil // the rollout stage makes a dead letter of it
		}
		for _, o := range orders {
			ordered[schemas.GroupID(run, o.ID, o.Iteration)] = true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the orders of run %s: %w", run, err)
	}
	return ordered, nil
}

// Order writes work orders; they are durable when it returns.
func Order(ctx context.Context, s Stream, run string, orders ...schemas.Task) error {
	outputs := make([]kafkaio.Output, 0, len(orders))
	for _, o := range orders {
		group := schemas.GroupID(run, o.ID, o.Iteration)
		out, err := output(s.Topics.Tasks, group, group, schemas.Tasks, o)
		if err != nil {
			return err
		}
		outputs = append(outputs, out)
	}
	if err := kafkaio.Produce(ctx, s.Brokers, outputs...); err != nil {
		return fmt.Errorf("ordering %d groups of run %s: %w", len(orders), run, err)
	}
	return nil
}
