package stage

import (
	"fmt"
	"time"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// Undecodable is the dead letter of a record whose value is not a sound frame, or
// lies in a blob that is lost; its payload is then the reference.
func Undecodable(stageName string, r kafkaio.Record, cause error) schemas.DeadLetter {
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

// bury acknowledges a record that cannot be decoded with its dead letter.
func bury(stageName string, topics Topics, r kafkaio.Record, cause error, dead func(kafkaio.Result)) error {
	letter, err := DeadLetterOutput(topics, Undecodable(stageName, r, cause))
	if err != nil {
		return err
	}
	dead(kafkaio.Result{Sources: []schemas.Position{r.Source}, Outputs: []kafkaio.Output{letter}})
	return nil
}
