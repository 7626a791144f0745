package schemas

import (
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

func decodeTask(b []byte) (Task, error)                   { return Tasks.DecodeOne(b) }
func decodeTrajectory(b []byte) (Trajectory, error)       { return Trajectories.DecodeOne(b) }
func decodeReward(b []byte) (Reward, error)               { return Rewards.DecodeOne(b) }
func decodeSample(b []byte) (Sample, error)               { return Samples.DecodeOne(b) }
func decodeUpdate(b []byte) (Update, error)               { return Updates.DecodeOne(b) }
func decodeDeadLetter(b []byte) (DeadLetter, error)       { return DeadLetters.DecodeOne(b) }
func decodePolicyVersion(b []byte) (PolicyVersion, error) { return PolicyVersions.DecodeOne(b) }
