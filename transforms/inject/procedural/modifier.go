package procedural

import (
	"go/token"
	"math"
	"math/rand/v2"

	"millrace/transforms/inject"
)

// Modifier is one way to make faults.
type Modifier struct {
	Kind inject.Kind
	// Likelihood is the chance of each place in a function to be changed.
	Likelihood float64
	// Needs are the tags that a function must have.
	Needs Tags
	// MinComplexity and MaxComplexity bound the complexity of the functions that
	// are changed, both inclusive.
	MinComplexity, MaxComplexity int

	sites func(*function) []site
}

// The kinds that package inject does not know.
const (
	ShuffleLines      inject.Kind = "ctrl_shuffle"
	RemoveAssign      inject.Kind = "remove_assign"
	RemoveConditional inject.Kind = "remove_cond"
	RemoveLoop        inject.Kind = "remove_loop"
	BreakChains       inject.Kind = "op_break_chains"
	ChangeOperator    inject.Kind = "op_change"
)

const (
	// leastComplexity leaves out functions that are too simple to hold a fault
	// worth looking for.
	leastComplexity = 3
	unbounded       = math.MaxInt
)

// Modifiers returns the ten modifiers in SWE-smith's order.
func Modifiers() []Modifier {
	return []Modifier{
		{inject.InvertIf, .75, HasIfElse, 5, unbounded, invertIf},
		{ShuffleLines, .75, HasLoop, leastComplexity, 10, shuffleLines},
		{RemoveAssign, .25, HasAssignment, leastComplexity, unbounded, removeAssign},
		{RemoveConditional, .25, HasIf, leastComplexity, unbounded, removeConditional},
		{RemoveLoop, .25, HasLoop, leastComplexity, unbounded, removeLoop},
		{BreakChains, .4, HasBinaryOp, leastComplexity, unbounded, breakChains},
		{inject.ChangeConst, .4, HasBinaryOp, leastComplexity, unbounded, changeConst},
		{ChangeOperator, .4, HasBinaryOp, leastComplexity, unbounded, changeOperator},
		{inject.FlipOperators, .4, HasBinaryOp, leastComplexity, unbounded, flipOperators},
		{inject.SwapOperands, .4, HasBinaryOp, leastComplexity, unbounded, swapOperands},
	}
}

// Kinds returns the names of the modifiers in their order.
func Kinds() []inject.Kind {
	var out []inject.Kind
	for _, m := range Modifiers() {
		out = append(out, m.Kind)
	}
	return out
}

// applies reports whether the modifier may change a function.
func (m Modifier) applies(f *function) bool {
	return f.tags&m.Needs == m.Needs && m.MinComplexity <= f.complexity && f.complexity <= m.MaxComplexity
}

// site is one place that a modifier can change.
type site struct {
	// from and to bound the text that no other changed site may touch.
	from, to token.Pos
	// change returns edits within these bounds, drawn at random where there is a
	// choice; none when there is nothing to change after all.
	change func(*rand.Rand) []Edit
}

// fixed is the change of a site without a choice.
func fixed(edits ...Edit) func(*rand.Rand) []Edit {
	return func(*rand.Rand) []Edit { return edits }
}

// oneOf draws one of several texts for the same place.
func oneOf(options []Edit) func(*rand.Rand) []Edit {
	return func(rng *rand.Rand) []Edit {
		if len(options) == 0 {
			return nil
		}
		return []Edit{options[rng.IntN(len(options))]}
	}
}
