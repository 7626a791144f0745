package deadletter

import (
	"context"
	"fmt"
	"slices"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// Redrive puts the record of a letter back on the topic that it was read from,
// behind what is there, with its key and its id: the stage that gave up reads it
// again when it runs. The record is the letter's payload, or, where the stage kept
// none (a rollout's order), the one that still lies at the letter's source.
//
// A letter that was re-driven before, as Read saw it, is refused unless again is
// true. So is one whose record is nowhere.
func Redrive(ctx context.Context, brokers string, l Letter, again bool) error {
	if l.Redriven && !again {
		return fmt.Errorf("dead letter %s was re-driven before; its record would be processed twice", l.ID)
	}
	if l.Source.Topic == "" {
		return fmt.Errorf("dead letter %s does not say which topic its record came from", l.ID)
	}
	original, found, err := fetch(ctx, brokers, l.Source)
	if err != nil {
		return fmt.Errorf("re-driving dead letter %s: reading its record: %w", l.ID, err)
	}
	out := kafkaio.Output{
		Topic: l.Source.Topic, Key: l.Key, Value: l.Payload, ID: l.RecordID,
		Headers: []kafkaio.Header{{Key: RedriveHeader, Value: []byte(l.ID)}},
	}
	if len(out.Value) == 0 {
		if !found {
			return fmt.Errorf("dead letter %s has no payload, and %s[%d]@%d is no longer there", l.ID, l.Source.Topic, l.Source.Partition, l.Source.Offset)
		}
		out.Value = original.Value
	}
	// A record keeps the id it was written with. The payload of a letter may also be
	// one row of a record of several, which has its own.
	if id := header(original, kafkaio.IDHeader); id != "" && slices.Equal(out.Value, original.Value) {
		out.ID = id
	}
	if found {
		out.Key = original.Key // so it comes to the partition it was in
	}
	if err := kafkaio.Produce(ctx, brokers, out); err != nil {
		return fmt.Errorf("re-driving dead letter %s: %w", l.ID, err)
	}
	return nil
}

// fetch reads the record at a position, and says whether it is there.
func fetch(ctx context.Context, brokers string, at schemas.Position) (record kafkaio.Record, found bool, err error) {
	err = kafkaio.Scan(ctx, brokers, at.Topic, &kafkaio.Latest, func(r kafkaio.Record) error {
		if r.Source == at {
			record, found = r, true
			return kafkaio.ErrEnough
		}
		return nil
	})
	return record, found, err
}
