package prove

import (
	"cmp"
	"maps"
	"slices"
)

// Count is what became of some candidates.
// Invariant: Candidates == Tasks + the sum of Rejected.
type Count struct {
	Candidates int `json:"candidates"`
	// Compiled are those that passed the type checker.
	Compiled int            `json:"compiled"`
	Tasks    int            `json:"tasks"`
	Rejected map[Reason]int `json:"rejected,omitempty"`
}

func (c *Count) add(d Decision) {
	c.Candidates++
	if d.Compiled {
		c.Compiled++
	}
	if d.Reason == None {
		c.Tasks++
		return
	}
	if c.Rejected == nil {
		c.Rejected = map[Reason]int{}
	}
	c.Rejected[d.Reason]++
}

// Yield is the share of the candidates that are tasks, 0 without any.
func (c Count) Yield() float64 {
	if c.Candidates == 0 {
		return 0
	}
	return float64(c.Tasks) / float64(c.Candidates)
}

// Reasons returns the reasons that occur, the most frequent first.
func (c Count) Reasons() []Reason {
	return slices.SortedFunc(maps.Keys(c.Rejected), func(a, b Reason) int {
		return cmp.Or(cmp.Compare(c.Rejected[b], c.Rejected[a]), cmp.Compare(a, b))
	})
}

// Summary is what became of all candidates, over all starts of a job.
type Summary struct {
	Count
	ByOrigin map[string]*Count `json:"by_origin"`
}

// Summarize counts decisions.
func Summarize(decisions []Decision) Summary {
	s := Summary{ByOrigin: map[string]*Count{}}
	for _, d := range decisions {
		s.add(d)
		if s.ByOrigin[d.Origin] == nil {
			s.ByOrigin[d.Origin] = &Count{}
		}
		s.ByOrigin[d.Origin].add(d)
	}
	return s
}
