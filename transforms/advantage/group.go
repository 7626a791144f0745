package advantage

import (
	"fmt"
	"slices"

	"millrace/schemas"
)

// Group is the state of one group while it is assembled and after. It has no
// clock and does no I/O: who calls Close, and when, is the caller's.
//
//	state   member offered                        verdict     state after
//	open    first of its rollout                  Joined      open
//	open    first of its rollout, and the last    Completed   closed
//	any     known rollout, equal digest           Repeat      same
//	any     known rollout, other digest           Conflict    same
//	closed  unknown rollout                       Late        same
//	any     another size, or index out of it      Misfit      same
//
// Invariant: a rollout is in Entries at most once, and
// len(Entries) == Size implies Closed.
type Group struct {
	// Size is the number of rollouts ordered, told by the first member.
	Size int32
	// Entries are the members that joined, in order of arrival.
	Entries []Entry
	// Closed is true once the group has left the stage.
	Closed bool
}

// Entry is what a group remembers of a member.
type Entry struct {
	// Rollout is the member's index in the group, from 0.
	Rollout int32
	// Digest identifies everything of the member that its sample depends on. A
	// trajectory that is scored twice has one digest although its scoring times
	// differ.
	Digest uint64
}

// Verdict is what became of an offered member.
type Verdict int

// The verdicts. In the first two the member belongs to the group.
const (
	Joined    Verdict = iota // the group waits for more
	Completed                // the group is complete, and closed by this member
	Repeat                   // the very same member was delivered before
	Conflict                 // the rollout already has another member
	Late                     // the group closed without this rollout
	Misfit                   // size or index contradict the group
)

func (v Verdict) String() string {
	return [...]string{"joined", "completed", "repeat", "conflict", "late", "misfit"}[v]
}

// Add offers a member that says its group has the given size.
func (g *Group) Add(e Entry, size int32) Verdict {
	if len(g.Entries) == 0 && !g.Closed {
		g.Size = size
	}
	if size != g.Size || e.Rollout < 0 || e.Rollout >= size {
		return Misfit
	}
	if i := slices.IndexFunc(g.Entries, func(o Entry) bool { return o.Rollout == e.Rollout }); i >= 0 {
		if g.Entries[i].Digest == e.Digest {
			return Repeat
		}
		return Conflict
	}
	if g.Closed {
		return Late
	}
	g.Entries = append(g.Entries, e)
	if len(g.Entries) == int(g.Size) {
		g.Closed = true
		return Completed
	}
	return Joined
}

// Close ends an open group at its time limit. It reports whether there was
// anything to close.
func (g *Group) Close() bool {
	if g.Closed || len(g.Entries) == 0 {
		return false
	}
	g.Closed = true
	return true
}

// refusal is why a member leaves as a dead letter whose verdict is Conflict, Late
// or Misfit.
func (g *Group) refusal(v Verdict, d *draft) (schemas.Reason, string) {
	switch v {
	case Conflict:
		return schemas.Duplicate, fmt.Sprintf("trajectory %s: rollout %d of group %s already has another record", d.ID, d.Rollout, d.GroupID)
	case Late:
		return schemas.Late, fmt.Sprintf("trajectory %s: group %s was closed with %d of %d members", d.ID, d.GroupID, len(g.Entries), g.Size)
	default:
		return schemas.Invalid, fmt.Sprintf("trajectory %s says that group %s has %d members, its first said %d", d.ID, d.GroupID, d.GroupSize, g.Size)
	}
}
