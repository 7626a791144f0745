package ledger

import (
	"fmt"

	"millrace/schemas"
)

// Step is one line of the ledger in short.
type Step struct {
	Number                    int64
	Samples, Trained, Dropped int
	Groups                    int
	// Reward is the mean over the samples that count, 0 if none does.
	Reward                                 float64
	ConfigHash, CodeVersion, WeightsDigest string
}

// Steps are the committed steps.
func (l *Log) Steps() []Step {
	var out []Step
	for _, u := range l.updates {
		s := Step{Number: u.Step, Samples: len(u.SampleIDs), Dropped: len(u.DroppedIDs), Groups: len(u.GroupIDs),
			ConfigHash: u.ConfigHash, CodeVersion: u.CodeVersion, WeightsDigest: u.WeightsDigest}
		sum, counting := 0.0, 0
		for _, id := range u.SampleIDs {
			member := l.samples[id]
			if member.weight == 1 {
				sum += member.reward
				counting++
			}
			if member.trained > 0 && member.advantage != 0 {
				s.Trained++
			}
		}
		if counting > 0 {
			s.Reward = sum / float64(counting)
		}
		out = append(out, s)
	}
	return out
}

// Member is a trajectory that a step was made of.
type Member struct {
	ID, Task string
	// Snapshot is the image or the digest of the task's files, see [Snapshot].
	Snapshot string
	// ImageDigest identifies the content of the image that the agent worked in,
	// also where the image's name is a tag. It is empty without an image, and of
	// trajectories that were written before digests were recorded.
	ImageDigest string
	// Versions are the policy versions that sampled it, "3" or "2..3".
	Versions          string
	Reward, Advantage float64
	// Excluded is why it has no weight, empty if it has.
	Excluded    string
	Termination schemas.Termination
}

// Members are the trajectories that a step was made of, sorted by id. A step that
// was never committed is an error that says which were.
func (l *Log) Members(step int64) ([]Member, error) {
	for _, u := range l.updates {
		if u.Step != step {
			continue
		}
		var out []Member
		for _, id := range u.SampleIDs {
			s, t := l.samples[id], l.trajectories[id]
			out = append(out, Member{ID: id, Task: t.task, Snapshot: t.snapshot, ImageDigest: t.image, Versions: versions(t.first, t.last),
				Reward: s.reward, Advantage: s.advantage, Excluded: s.excluded, Termination: s.termination})
		}
		return out, nil
	}
	if len(l.updates) == 0 {
		return nil, fmt.Errorf("no step %d: the run has committed none", step)
	}
	return nil, fmt.Errorf("no step %d: the run has committed steps %d to %d", step, l.updates[0].Step, l.updates[len(l.updates)-1].Step)
}
