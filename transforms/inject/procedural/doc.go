// Package procedural makes faults as SWE-smith does: ten modifiers, each of which
// changes some of the places in one function that it knows how to change
// (facts of swesmith/bug_gen/procedural, Go part).
//
// What must always be true:
//   - an edit is a splice of bytes; what stands between the edits stays as it was,
//     comments, formatting and characters outside of ASCII included;
//   - the edits of a change do not overlap, and none is in code that cannot run;
//   - no two changes of a file have the same tokens, and none has the tokens of the
//     file itself, whatever its comments and white space;
//   - the list depends on file, seed and settings alone, and what is drawn for one
//     function does not depend on the others.
//
// A change may still fail to compile: the caller type-checks it with the rest of
// its package. Types are used before that where they tell for certain, so that most
// changes do compile.
//
//	modifier          likelihood  complexity  change
//	ctrl_invert_if    .75         from 5      then and else exchanged
//	ctrl_shuffle      .75         3 to 10     statements of a function with a loop reordered
//	remove_assign     .25         from 3      assignment dropped, a declaration kept
//	remove_cond       .25         from 3      whole if dropped
//	remove_loop       .25         from 3      for dropped
//	op_break_chains   .4          from 3      inner operand of a chain dropped
//	op_change_const   .4          from 3      int ±1, float ±0.1 or ±1.0, in binary expressions
//	op_change         .4          from 3      another operator of the same class
//	flip_operators    .4          from 3      operator to its twin
//	op_swap           .4          from 3      operands exchanged
package procedural
