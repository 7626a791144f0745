package stage

import (
	"fmt"
	"time"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// undecodable is the dead letter of a record whose value is not a sound frame, or
// lies in a blob that is lost; its payload is then the reference.
func undecodable(stageName string, r kafkaio.Record, cause error) schemas.DeadLetter {
	return schemas.DeadLetter{
		ID:      fmt.Sprintf("%s/%s[%d]@%d", stageName, r.Source.Topic, r.Source.Partition, r.Source.Offset),
		Stage:   stageName,
		Reason:  schemas.ReasonOf(cause),
		Message: fmt.Sprintf("%s[%d] offset %d: %v", r.Source.Topic, r.Source.Partition, r.Source.Offset, cause),
		Key:     r.Key,
		Payload: r.Value,
		Source:  r.Source,
		Time:    time.Now().UnixMicro(),
	}
}

// codec is what this package needs of a schemas.Codec.
type codec[T any] interface {
	Encode(rows ...T) ([]byte, error)
}

// output frames one row for a topic.
func output[T any](topic, key, id string, codec codec[T], row T) (kafkaio.Output, error) {
	frame, err := codec.Encode(row)
	if err != nil {
		return kafkaio.Output{}, fmt.Errorf("encoding %s for %s: %w", id, topic, err)
	}
	return kafkaio.Output{Topic: topic, Key: []byte(key), Value: frame, ID: id}, nil
}

func deadLetter(topics Topics, d schemas.DeadLetter) (kafkaio.Output, error) {
	return output(topics.DeadLetters, string(d.Key), d.ID, schemas.DeadLetters, d)
}

// errOneRow is the error of a frame that must hold one row and does not.
func errOneRow(rows int) error {
	return fmt.Errorf("frame holds %d rows, want 1: %w", rows, schemas.ErrCorrupt)
}
