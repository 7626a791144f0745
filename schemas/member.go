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
// Inside a job it travels with its source (EncodeMembers); between two jobs, one
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

// Encoded members are
//
//	uvarint length of heads | heads, a JSON array | frame of their Rewards
type memberHead struct {
	Source   Position
	Excluded string `json:",omitempty"`
	Counts   bool   `json:",omitempty"`
}

// EncodeMembers returns the members, one or more, as bytes; equal members give equal
// bytes. A reward that breaks its contract is an *InvalidError.
func EncodeMembers(members ...Member) ([]byte, error) {
	heads, rewards := make([]memberHead, len(members)), make([]Reward, len(members))
	for i, m := range members {
		heads[i], rewards[i] = memberHead{m.Source, m.Excluded, m.Counts}, m.Reward
	}
	head, err := json.Marshal(heads)
	if err != nil {
		return nil, fmt.Errorf("encoding the heads of %d members: %w", len(members), err)
	}
	frame, err := Rewards.Encode(rewards...)
	if err != nil {
		return nil, fmt.Errorf("encoding %d members: %w", len(members), err)
	}
	b := make([]byte, 0, binary.MaxVarintLen64+len(head)+len(frame))
	b = binary.AppendUvarint(b, uint64(len(head)))
	b = append(b, head...)
	return append(b, frame...), nil
}

// DecodeMembers reads what EncodeMembers wrote. Anything else is an error marked
// ErrCorrupt or an *InvalidError.
func DecodeMembers(b []byte) ([]Member, error) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return nil, corrupt("members of %d bytes tell heads of %d", len(b), n)
	}
	var heads []memberHead
	if err := json.Unmarshal(b[k:k+int(n)], &heads); err != nil {
		return nil, corrupt("heads of members: %v", err)
	}
	rewards, err := Rewards.Decode(b[k+int(n):])
	if err != nil {
		return nil, fmt.Errorf("decoding members: %w", err)
	}
	if len(heads) != len(rewards) {
		return nil, corrupt("%d heads of %d members", len(heads), len(rewards))
	}
	members := make([]Member, len(heads))
	for i, h := range heads {
		members[i] = Member{rewards[i], h.Source, h.Excluded, h.Counts}
	}
	return members, nil
}

func decodeMember(b []byte) (Member, error) {
	members, err := DecodeMembers(b)
	if err == nil && len(members) != 1 {
		err = corrupt("%d members where one belongs", len(members))
	}
	if err != nil {
		return Member{}, err
	}
	return members[0], nil
}

func init() {
	beam.RegisterCoder(reflect.TypeFor[Member](), encodeMember, decodeMember)
}

func encodeMember(m Member) ([]byte, error) { return EncodeMembers(m) }
