package advantage

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"millrace/schemas"
)

// stage is this stage's name in dead letters.
const stage = "advantage"

// Assign returns the samples of one group, sorted by rollout, and a dead letter
// for each member that is not a valid one or whose reward is not finite. Members
// have different rollouts, in any order: the result does not depend on it, to
// the bit (invariant 5).
//
// Every valid member leaves as a sample, with GroupMembers their number
// (invariant 6). One that does not count has weight 0 and advantage 0, and no
// value in it changes anything in another's sample (invariant 7). Nor do the
// members count of a group that carries no preference, under ExcludeEqual, or whose
// advantages leave the range of float64.
//
// The config must be valid. The samples share the members' token slices.
func Assign(c Config, members []schemas.Member) ([]schemas.Sample, []schemas.DeadLetter) {
	var drafts []draft
	var letters []schemas.DeadLetter
	for _, m := range members {
		d, err := newDraft(m)
		if err != nil {
			letters = append(letters, letterOf(m, schemas.ReasonOf(err), err.Error()))
			continue
		}
		drafts = append(drafts, d)
	}
	samples, more := settle(c, drafts)
	return samples, append(letters, more...)
}

// settle is Assign for drafts.
func settle(c Config, drafts []draft) ([]schemas.Sample, []schemas.DeadLetter) {
	drafts = slices.Clone(drafts)
	slices.SortFunc(drafts, func(a, b draft) int { return cmp.Compare(a.Rollout, b.Rollout) })

	advantages, excluded := estimate(c, drafts)
	var letters []schemas.DeadLetter
	samples := make([]schemas.Sample, 0, len(drafts))
	weighing := int32(0)
	for _, d := range drafts {
		s, problem := d.Sample, d.notFinite
		if s.Weight == 1 {
			switch excluded {
			case "":
				s.Advantage = advantages[0]
				weighing++
			case NotFinite:
				problem = fmt.Sprintf("advantage is %v for reward %v", advantages[0], s.Reward)
				fallthrough
			default:
				s.Weight, s.Excluded = 0, excluded
			}
			advantages = advantages[1:]
		}
		if problem != "" {
			letters = append(letters, schemas.DeadLetter{
				ID: letterID(s.ID, schemas.NotFinite), Stage: stage, Reason: schemas.NotFinite,
				Message:  fmt.Sprintf("sample %s of group %s: %s", s.ID, s.GroupID, problem),
				RecordID: s.ID, Key: []byte(s.GroupID), Source: d.source, Attempts: 1,
			})
		}
		samples = append(samples, s)
	}
	for i := range samples {
		samples[i].GroupMembers, samples[i].GroupWeighing = int32(len(samples)), weighing
	}
	return samples, letters
}

// estimate returns the advantages of the drafts that weigh, in their order, and why
// none of them is to be trained on, if so.
func estimate(c Config, drafts []draft) (advantages []float64, excluded string) {
	var rewards, punished []float64
	for _, d := range drafts {
		if d.Weight == 1 {
			rewards = append(rewards, d.Reward)
			punished = append(punished, d.Reward+c.Overlong.Penalty(d.sampled()))
		}
	}
	if len(rewards) == 0 {
		return nil, ""
	}
	if c.ExcludeEqual && allEqual(rewards) {
		return make([]float64, len(rewards)), schemas.EqualRewards
	}
	if c.Shuffle {
		shuffle(punished, drafts[0].GroupID)
	}
	estimators[c.Estimator](punished) // now the advantages
	if slices.ContainsFunc(punished, func(a float64) bool { return math.IsNaN(a) || math.IsInf(a, 0) }) {
		return punished, NotFinite
	}
	return punished, ""
}

// letterOf makes the dead letter of a member that does not become a sample. Its
// payload is the reward as it was read, or nothing if it cannot be encoded; the
// source says where it still is.
func letterOf(m schemas.Member, reason schemas.Reason, message string) schemas.DeadLetter {
	t := &m.Reward.Trajectory
	payload, err := schemas.Rewards.Encode(m.Reward)
	if err != nil {
		payload = nil
	}
	return schemas.DeadLetter{
		ID: letterID(t.ID, reason), Stage: stage, Reason: reason, Message: message,
		RecordID: t.ID, Key: []byte(t.GroupID), Payload: payload, Source: m.Source, Attempts: 1,
	}
}

func letterID(record string, reason schemas.Reason) string {
	return fmt.Sprintf("%s/%s/%s", stage, record, reason)
}
