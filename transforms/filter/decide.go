package filter

import (
	"slices"

	"millrace/schemas"
)

// Unscored is why a trajectory without a reward is excluded.
const Unscored = "unscored"

// mode says which terminations are masked but count with reward 0, and which are
// left out altogether.
type mode struct {
	masked, left []schemas.Termination
}

// modes by name. Malformed is in none of them: that the agent cannot write a
// call is its own doing, and its reward should teach it. Failed is in none
// because it never has a reward.
var modes = map[string]mode{
	Compact: {
		masked: []schemas.Termination{schemas.ContextFull, schemas.StepLimit},
		left:   []schemas.Termination{schemas.TimeLimit, schemas.ActionLimit},
	},
	CompactPublished: {masked: []schemas.Termination{schemas.ContextFull, schemas.StepLimit, schemas.TimeLimit}},
	None:             {},
}

// Decide returns why a trajectory is not trained on, empty when it is, and
// whether it is in its group's baseline and the loss's denominator. The
// decision depends on the termination, on whether there is a reward, and on
// nothing else.
//
// A trajectory without a reward is excluded and does not count in every mode
// (invariant 1). The config must be valid.
func Decide(c Config, r schemas.Reward) (excluded string, counts bool) {
	t := r.Trajectory.Termination
	m := modes[c.Mode]
	switch {
	case t == schemas.Failed:
		return string(schemas.Failed), false
	case r.Failure != "":
		return Unscored, false
	case slices.Contains(m.left, t):
		return string(t), false
	case slices.Contains(m.masked, t):
		return string(t), true
	}
	return "", true
}
