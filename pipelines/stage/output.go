package stage

import (
	"fmt"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// RewardOutput is the record of a scored trajectory.
func RewardOutput(topics Topics, r schemas.Reward) (kafkaio.Output, error) {
	return output(topics.Rewarded, r.Trajectory.GroupID, r.Trajectory.ID, schemas.Rewards, r)
}

// SamplesOutput is the record that the samples of a closed group leave in: all of
// them in one frame, so that no step sees half a group.
func SamplesOutput(topics Topics, samples []schemas.Sample) (kafkaio.Output, error) {
	group := samples[0].GroupID
	return output(topics.Samples, group, group, schemas.Samples, samples...)
}

// DeadLetterOutput is the record of a dead letter.
func DeadLetterOutput(topics Topics, d schemas.DeadLetter) (kafkaio.Output, error) {
	return output(topics.DeadLetters, string(d.Key), d.ID, schemas.DeadLetters, d)
}

// output frames rows for a topic.
func output[T schemas.Row](topic, key, id string, codec *schemas.Codec[T], rows ...T) (kafkaio.Output, error) {
	frame, err := codec.Encode(rows...)
	if err != nil {
		return kafkaio.Output{}, fmt.Errorf("encoding %s for %s: %w", id, topic, err)
	}
	return kafkaio.Output{Topic: topic, Key: []byte(key), Value: frame, ID: id}, nil
}
