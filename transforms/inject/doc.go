// Package inject makes faults: small, plausible mistakes in working Go source,
// each of them the start of a repair task.
//
// A fault is a byte-exact splice of one token or expression on one line; the
// rest of the file, formatting and comments included, stays as it was. Faults
// enumerates all of them in a fixed order, Mutants keeps the ones that still
// compile and differ from each other. Nothing is random here: which faults
// become tasks is the caller's choice.
//
//	kind              change                                       known as
//	flip_operators    + - * / == != < > <= >= && || to its twin    SWE-smith
//	boundary          < to <=, > to >= and back                    ours
//	op_change_const   integer constant plus or minus one           SWE-smith
//	op_swap           operands of - / % << >> exchanged            SWE-smith
//	ctrl_invert_if    condition of an if negated                   SWE-smith
//	remove_not        ! dropped                                    ours
//	break_continue    break to continue and back                   ours
//
// SWE-smith's ctrl_invert_if exchanges the branches of an if; here the condition
// is negated instead, which is the same fault written on one line.
package inject
