package reprocess

import (
	"context"
	"time"

	"millrace/schemas"
)

// Source is where rewarded trajectories lie. They are cut into lanes, and all of a
// group is in one lane.
type Source interface {
	// Lanes is the number of lanes, at least 1.
	Lanes() int
	// Read reads a lane in the order of the input. Lanes may be read at once. An error
	// is one of the place or of visit, never of a record.
	Read(ctx context.Context, lane int, visit Visitor) error
}

// Visitor is told of each record.
type Visitor struct {
	// Wanted, if it is not nil, tells whether a group is to be read at all. A source
	// that knows the group of a record before it is decoded asks.
	Wanted func(group string) bool
	// Reward takes a trajectory and where it was read.
	Reward func(r schemas.Reward, source schemas.Position) error
	// Broken takes the dead letter of a record that cannot be decoded.
	Broken func(d schemas.DeadLetter) error
}

// Selection says which trajectories of a source are taken. The zero value takes all.
type Selection struct {
	// Since and Until bound the time at which a rollout ended: [Since, Until). The zero
	// time is no bound.
	Since, Until time.Time
	// Group tells whether a group is taken; nil takes all.
	Group func(id string) bool
}

func (s Selection) takes(t *schemas.Trajectory) bool {
	if s.Group != nil && !s.Group(t.GroupID) {
		return false
	}
	finished := time.UnixMicro(t.Finished)
	return (s.Since.IsZero() || !finished.Before(s.Since)) && (s.Until.IsZero() || finished.Before(s.Until))
}
