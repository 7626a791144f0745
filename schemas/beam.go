package schemas

import (
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Every row type crosses a PCollection as a frame of one row. Beam finds a coder
// function by its name when a pipeline is taken apart and put together, so each
// type has its own two named functions.
func init() {
	beam.RegisterCoder(reflect.TypeFor[Task](), encodeTask, decodeTask)
	beam.RegisterCoder(reflect.TypeFor[Trajectory](), encodeTrajectory, decodeTrajectory)
	beam.RegisterCoder(reflect.TypeFor[Reward](), encodeReward, decodeReward)
	beam.RegisterCoder(reflect.TypeFor[Sample](), encodeSample, decodeSample)
	beam.RegisterCoder(reflect.TypeFor[Update](), encodeUpdate, decodeUpdate)
	beam.RegisterCoder(reflect.TypeFor[DeadLetter](), encodeDeadLetter, decodeDeadLetter)
	beam.RegisterCoder(reflect.TypeFor[PolicyVersion](), encodePolicyVersion, decodePolicyVersion)
}

func encodeTask(t Task) ([]byte, error)                   { return Tasks.Encode(t) }
func encodeTrajectory(t Trajectory) ([]byte, error)       { return Trajectories.Encode(t) }
func encodeReward(r Reward) ([]byte, error)               { return Rewards.Encode(r) }
func encodeSample(s Sample) ([]byte, error)               { return Samples.Encode(s) }
func encodeUpdate(u Update) ([]byte, error)               { return Updates.Encode(u) }
func encodeDeadLetter(d DeadLetter) ([]byte, error)       { return DeadLetters.Encode(d) }
func encodePolicyVersion(p PolicyVersion) ([]byte, error) { return PolicyVersions.Encode(p) }

func decodeTask(b []byte) (Task, error)                   { return decodeOne(Tasks, b) }
func decodeTrajectory(b []byte) (Trajectory, error)       { return decodeOne(Trajectories, b) }
func decodeReward(b []byte) (Reward, error)               { return decodeOne(Rewards, b) }
func decodeSample(b []byte) (Sample, error)               { return decodeOne(Samples, b) }
func decodeUpdate(b []byte) (Update, error)               { return decodeOne(Updates, b) }
func decodeDeadLetter(b []byte) (DeadLetter, error)       { return decodeOne(DeadLetters, b) }
func decodePolicyVersion(b []byte) (PolicyVersion, error) { return decodeOne(PolicyVersions, b) }

func decodeOne[T row](c *Codec[T], b []byte) (T, error) {
	rows, err := c.Decode(b)
	if err != nil {
		var none T
		return none, err
	}
	if len(rows) != 1 {
		var none T
		return none, fmt.Errorf("decoding %s: %w", c.name, corrupt("an element of %d rows", len(rows)))
	}
	return rows[0], nil
}
