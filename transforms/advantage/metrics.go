package advantage

import "github.com/apache/beam/sdks/v2/go/pkg/beam"

// The counters balance when no group is open (invariant 6):
//
//	members = samples + refused + repeats + left_open
//
// not_finite letters are on top: their members left as samples too.
var (
	countMembers   = beam.NewCounter(stage, "members")
	countSamples   = beam.NewCounter(stage, "samples")
	countRefused   = beam.NewCounter(stage, "refused") // dead letters of members in no group
	countRepeats   = beam.NewCounter(stage, "repeats")
	countLeftOpen  = beam.NewCounter(stage, "left_open") // members of groups open at the end of the input
	countNotFinite = beam.NewCounter(stage, "not_finite")
	countGroups    = beam.NewCounter(stage, "groups")
	countShort     = beam.NewCounter(stage, "groups_short") // of groups: closed without all members
)
