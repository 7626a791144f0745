package learn

import (
	"cmp"
	"maps"
	"slices"
)

// places are what the groups of each iteration have filled of the steps' batches, and
// how many of them have left their place to another group: DAPO's dynamic sampling
// (Yu et al. 2025, arXiv:2503.14476, section 3.2) in a flow.
//
// A group in which nothing weighs leaves its place to another that is ordered for
// the same iteration. An iteration may do so spare times; from then on, its groups
// fill their places with whatever they hold, and a step goes on with fewer.
//
// Invariant: an iteration whose groups were all ordered, the replacements among them,
// fills as many places as a step has. So no step waits for a group that nobody
// ordered, whichever groups weigh and in whatever order they come.
type places struct {
	perStep, spare int
	// open are the iterations that have a group in a step and places left.
	open map[int64]filled
}

// filled is how far an iteration is.
type filled struct{ Filled, Replaced int }

// newPlaces makes the places of steps of perStep groups, for each of which up to
// perStep*maxDraws may be ordered.
func newPlaces(perStep, maxDraws int) places {
	return places{perStep: perStep, spare: perStep * (maxDraws - 1), open: map[int64]filled{}}
}

// clone may take groups without the original knowing.
func (p places) clone() places {
	p.open = maps.Clone(p.open)
	return p
}

// take tells whether a group fills a place of the step that consumes it.
func (p places) take(g *group) bool {
	if p.spare == 0 {
		return true
	}
	at := p.open[g.iteration]
	fills := !p.replaces(g, at)
	if fills {
		at.Filled++
	} else {
		at.Replaced++
	}
	p.open[g.iteration] = at
	if at.Filled >= p.perStep {
		delete(p.open, g.iteration)
	}
	return fills
}

func (p places) replaces(g *group, at filled) bool { return g.weighing == 0 && at.Replaced < p.spare }

// replaced is how many replacements each iteration needs, with those groups that are
// complete and wait for their step.
func (p places) replaced(queue []*group) map[int64]int {
	counted := p.clone()
	for _, g := range queue {
		if at := counted.open[g.iteration]; counted.replaces(g, at) {
			at.Replaced++
			counted.open[g.iteration] = at
		}
	}
	out := map[int64]int{}
	for iteration, at := range counted.open {
		if at.Replaced > 0 {
			out[iteration] = at.Replaced
		}
	}
	return out
}

// openIteration is an iteration in state.json.
type openIteration struct {
	Iteration int64 `json:"iteration"`
	Filled    int   `json:"filled"`
	Replaced  int   `json:"replaced"`
}

func (p places) save() []openIteration {
	var out []openIteration
	for iteration, at := range p.open {
		out = append(out, openIteration{iteration, at.Filled, at.Replaced})
	}
	slices.SortFunc(out, func(a, b openIteration) int { return cmp.Compare(a.Iteration, b.Iteration) })
	return out
}

func (p places) load(saved []openIteration) {
	for _, o := range saved {
		p.open[o.Iteration] = filled{o.Filled, o.Replaced}
	}
}
