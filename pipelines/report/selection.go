package report

import (
	"cmp"

	"millrace/schemas"
)

// Selection picks the trajectories worth reading out of any number of them: the
// first and the last that solved its task, and the first and the last that did
// not. Which are picked does not depend on the order in which they are added. It
// keeps at most four.
type Selection struct {
	solved, unsolved ends
}

// ends are the first and the last of some rewards.
type ends struct{ first, last *schemas.Reward }

// Add considers a reward. Failures of the infrastructure are not to be read.
func (s *Selection) Add(r schemas.Reward) {
	switch {
	case r.Failure != "":
	case r.Value >= 1:
		s.solved.add(r)
	default:
		s.unsolved.add(r)
	}
}

func (e *ends) add(r schemas.Reward) {
	if e.first == nil || earlier(r, *e.first) {
		e.first = &r
	}
	if e.last == nil || earlier(*e.last, r) {
		e.last = &r
	}
}

func earlier(a, b schemas.Reward) bool {
	return cmp.Or(cmp.Compare(a.Trajectory.Iteration, b.Trajectory.Iteration), cmp.Compare(a.Trajectory.ID, b.Trajectory.ID)) < 0
}

// Trajectories are those picked, the early ones first.
func (s *Selection) Trajectories() []schemas.Reward {
	var out []schemas.Reward
	for _, r := range []*schemas.Reward{s.unsolved.first, s.solved.first, s.unsolved.last, s.solved.last} {
		if r == nil {
			continue
		}
		twice := false
		for _, o := range out {
			twice = twice || o.Trajectory.ID == r.Trajectory.ID
		}
		if !twice {
			out = append(out, *r)
		}
	}
	return out
}
