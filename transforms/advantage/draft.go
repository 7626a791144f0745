package advantage

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"millrace/schemas"
)

// NotFinite is why a sample is excluded whose reward or advantage is NaN or
// infinite.
const NotFinite = "not_finite"

// draft is a member as its group keeps it: the sample it will be, without what
// only the whole group can tell. It holds no text of the trajectory, so an open
// group takes about 13 bytes a token.
type draft struct {
	// Sample has Advantage 0 and the counts of a group of one. Its Reward is what
	// it counts with.
	schemas.Sample
	source schemas.Position
	// notFinite is the reward in words when it is none.
	notFinite string
}

// newDraft makes the draft of a member. An error is an *schemas.InvalidError:
// the member breaks its contract and cannot be in any group.
//
// A member that is excluded but counts (see [schemas.Member]) becomes a sample
// of weight 1 and reward 0 without a trained token, so that it is in the
// loss's denominator and nowhere else.
func newDraft(m schemas.Member) (draft, error) {
	t := &m.Reward.Trajectory
	d := draft{source: m.Source}
	if v := m.Reward.Value; math.IsNaN(v) || math.IsInf(v, 0) {
		d.notFinite = fmt.Sprintf("reward is %v", v)
		m.Reward.Value, m.Excluded, m.Counts = 0, NotFinite, false
	}
	if err := m.Reward.Validate(); err != nil {
		return draft{}, err
	}
	size := t.Task.Rollouts
	invalid := func(field, problem string, args ...any) error {
		return &schemas.InvalidError{Schema: "member", ID: t.ID, Field: field,
			Problem: fmt.Sprintf(problem, args...), Reason: schemas.Invalid}
	}
	switch {
	case size < 1 || t.Rollout >= size:
		return draft{}, invalid("Reward.Trajectory.Rollout", "is %d in a group of %d", t.Rollout, size)
	case m.Excluded == "" && !m.Counts:
		return draft{}, invalid("Counts", "is false although nothing excludes the member: it did not pass the filter")
	case m.Reward.Failure != "" && m.Counts:
		// The last line of defence of invariant 1: no failure becomes a reward.
		return draft{}, invalid("Counts", "is true although the trajectory has no reward: %s", m.Reward.Failure)
	}
	d.Sample = schemas.Sample{
		ID: t.ID, GroupID: t.GroupID, TaskID: t.Task.ID, Run: t.Run, Iteration: t.Iteration, Rollout: t.Rollout,
		Tokens: t.Tokens, LossMask: t.LossMask, LogProbs: t.LogProbs, Versions: t.Versions,
		Reward: m.Reward.Value, Excluded: m.Excluded, Termination: t.Termination,
		GroupMembers: 1, GroupSize: size, Turns: int32(len(t.Steps)),
	}
	for _, s := range t.Steps {
		if s.Tool != "" {
			d.Tools = append(d.Tools, s.Tool)
		}
	}
	if m.Counts {
		d.Weight, d.Excluded = 1, ""
		if m.Excluded != "" {
			d.Reward = 0
			d.mask()
		}
	}
	if err := d.Validate(); err != nil {
		return draft{}, err
	}
	return d, nil
}

// sampled is the number of tokens that are trained on: those that the policy sampled.
func (d *draft) sampled() int {
	n := 0
	for _, m := range d.LossMask {
		if m {
			n++
		}
	}
	return n
}

// mask makes the sample one without a trained token.
func (d *draft) mask() {
	n := len(d.Tokens)
	d.LossMask, d.LogProbs, d.Versions = make([]bool, n), make([]float32, n), make([]int32, n)
	for i := range d.Versions {
		d.Versions[i] = -1
	}
}

// An encoded draft is
//
//	uvarint length of head | head, JSON | frame of one Sample
type draftHead struct {
	Source    schemas.Position
	NotFinite string `json:",omitempty"`
}

// encode returns the draft as bytes.
func (d *draft) encode() ([]byte, error) {
	head, err := json.Marshal(draftHead{d.source, d.notFinite})
	if err != nil {
		return nil, fmt.Errorf("encoding the head of draft %q: %w", d.ID, err)
	}
	frame, err := schemas.Samples.Encode(d.Sample)
	if err != nil {
		return nil, fmt.Errorf("encoding draft %q: %w", d.ID, err)
	}
	b := make([]byte, 0, binary.MaxVarintLen64+len(head)+len(frame))
	b = binary.AppendUvarint(b, uint64(len(head)))
	return append(append(b, head...), frame...), nil
}

func decodeDraft(b []byte) (draft, error) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return draft{}, fmt.Errorf("decoding a draft of %d bytes: the head takes %d: %w", len(b), n, schemas.ErrCorrupt)
	}
	var head draftHead
	if err := json.Unmarshal(b[k:k+int(n)], &head); err != nil {
		return draft{}, fmt.Errorf("decoding the head of a draft: %v: %w", err, schemas.ErrCorrupt)
	}
	samples, err := schemas.Samples.Decode(b[k+int(n):])
	if err != nil {
		return draft{}, fmt.Errorf("decoding a draft: %w", err)
	}
	if len(samples) != 1 {
		return draft{}, fmt.Errorf("decoding a draft: %d samples: %w", len(samples), schemas.ErrCorrupt)
	}
	return draft{samples[0], head.Source, head.NotFinite}, nil
}
