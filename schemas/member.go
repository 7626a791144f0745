package schemas

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Member is a rewarded trajectory on its way into its group: what the filter
// decided of it, and where it was read.
//
// Inside a job it travels with its source (EncodeMember); between two jobs, one
// that ends with the filter and one that begins behind it, as a record (Members).
type Member struct {
	Reward Reward
	// Source is where the record was read; its Offset is the record's own.
	Source Position
	// Excluded is empty when the trajectory is trained on, else the reason
	// ("context", "steps", "time", "failed", ...).
	Excluded string
	// Counts is true when the trajectory is in its group's baseline and in the
	// loss's denominator. One that is excluded and counts does so with reward 0 and
	// no trained token; otherwise Counts is the opposite of being excluded
	// (invariant 7).
	Counts bool
}

// Members is the codec of Member. Source is no column: it is where a reader found
// the record.
var Members = newCodec("member", memberOf(rewardColumns), memberOf(rewardColumnsV2), memberOf(rewardColumnsV3))

func memberOf(reward []column[Reward]) []column[Member] {
	return []column[Member]{
		nested("reward", func(m *Member) *Reward { return &m.Reward }, reward),
		text("excluded", func(m *Member) *string { return &m.Excluded }),
		boolean("counts", func(m *Member) *bool { return &m.Counts }),
	}
}

// Validate checks the contract of a member that the filter has seen: a valid
// reward, and that one which is not excluded counts.
func (m Member) Validate() error {
	c := &contract{schema: "member", id: m.Reward.Trajectory.ID}
	m.Reward.check(c, "Reward.")
	c.utf8("Excluded", m.Excluded)
	if m.Excluded == "" && !m.Counts {
		c.fail(Invalid, "Counts", "is false although nothing excludes the trajectory")
	}
	return c.err()
}

// An encoded member is
//
//	uvarint length of head | head, JSON | frame of one Reward
type memberHead struct {
	Source   Position
	Excluded string `json:",omitempty"`
	Counts   bool   `json:",omitempty"`
}

// EncodeMember returns the member as bytes; equal members give equal bytes. A
// reward that breaks its contract is an *InvalidError.
func EncodeMember(m Member) ([]byte, error) {
	head, err := json.Marshal(memberHead{m.Source, m.Excluded, m.Counts})
	if err != nil {
		return nil, fmt.Errorf("encoding the head of member %q: %w", m.Reward.Trajectory.ID, err)
	}
	frame, err := Rewards.Encode(m.Reward)
	if err != nil {
		return nil, fmt.Errorf("encoding member %q: %w", m.Reward.Trajectory.ID, err)
	}
	b := make([]byte, 0, binary.MaxVarintLen64+len(head)+len(frame))
	b = binary.AppendUvarint(b, uint64(len(head)))
	b = append(b, head...)
	return append(b, frame...), nil
}

// DecodeMember reads what EncodeMember wrote. Anything else is an error marked
// ErrCorrupt or an *InvalidError.
func DecodeMember(b []byte) (Member, error) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return Member{}, corrupt("member of %d bytes tells a head of %d", len(b), n)
	}
	var head memberHead
	if err := json.Unmarshal(b[k:k+int(n)], &head); err != nil {
		return Member{}, corrupt("head of a member: %v", err)
	}
	reward, err := Rewards.DecodeOne(b[k+int(n):])
	if err != nil {
		return Member{}, fmt.Errorf("decoding a member: %w", err)
	}
	return Member{reward, head.Source, head.Excluded, head.Counts}, nil
}

func init() {
	beam.RegisterCoder(reflect.TypeFor[Member](), EncodeMember, DecodeMember)
}
