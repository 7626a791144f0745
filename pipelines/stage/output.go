package stage

import (
	"fmt"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// SamplesOutput is the record that the samples of a closed group leave in: all of
// them in one frame, so that no step sees half a group.
func SamplesOutput(topics Topics, samples []schemas.Sample) (kafkaio.Output, error) {
	group := samples[0].GroupID
	frame, err := schemas.Samples.Encode(samples...)
	if err != nil {
		return kafkaio.Output{}, fmt.Errorf("encoding group %s for %s: %w", group, topics.Samples, err)
	}
	return kafkaio.Output{Topic: topics.Samples, Key: []byte(group), Value: frame, ID: group}, nil
}

// RewardOutput is the record of a scored trajectory.
func RewardOutput(topics Topics, r schemas.Reward) (kafkaio.Output, error) {
	return output(topics.Rewarded, r.Trajectory.GroupID, r.Trajectory.ID, schemas.Rewards, r)
}

// DeadLetterOutput is the record of a dead letter.
func DeadLetterOutput(topics Topics, d schemas.DeadLetter) (kafkaio.Output, error) {
	return deadLetter(topics, d)
}

// Undecodable is the dead letter of a record whose value a stage cannot decode.
func Undecodable(stageName string, r kafkaio.Record, cause error) schemas.DeadLetter {
	return undecodable(stageName, r, cause)
}
