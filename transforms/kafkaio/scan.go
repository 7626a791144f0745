package kafkaio

import (
	"context"
	"errors"
	"fmt"
)

// ErrEnough ends a scan without being its error.
var ErrEnough = errors.New("enough records")

// Scan calls visit with the records of a topic from its beginning, outside of
// any pipeline: for resuming, collecting and exporting. With to "latest" it
// reads what the topic holds now; with to nil it follows the topic until visit
// returns [ErrEnough] or ctx ends. Records of a partition come in order; visit
// is called from one goroutine at a time, and its error ends the scan.
func Scan(ctx context.Context, brokers, topic string, to *Position, visit func(Record) error) error {
	source := Source{Job: "scan", Brokers: brokers, Topic: topic, From: Earliest, To: to}
	err := Consume(ctx, source, func(r Record) error {
		if err := visit(r); err != nil {
			return fmt.Errorf("%s[%d]@%d: %w", topic, r.Source.Partition, r.Source.Offset, err)
		}
		return nil
	})
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}
