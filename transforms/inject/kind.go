package inject

// Kind names a family of faults. It is part of a task's id, so a name never
// changes its meaning.
type Kind string

// The kinds, with SWE-smith's names where it has one.
const (
	FlipOperators Kind = "flip_operators"
	Boundary      Kind = "boundary"
	ChangeConst   Kind = "op_change_const"
	SwapOperands  Kind = "op_swap"
	InvertIf      Kind = "ctrl_invert_if"
	RemoveNot     Kind = "remove_not"
	BreakContinue Kind = "break_continue"
)

// Kinds returns all kinds in the order in which faults at one site are listed.
func Kinds() []Kind {
	return []Kind{FlipOperators, Boundary, ChangeConst, SwapOperands, InvertIf, RemoveNot, BreakContinue}
}
