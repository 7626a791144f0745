// Package mine makes task sets.
//
// The default set starts from the corpus: small packages of one exported
// function each, with two sets of table tests. A fault (package inject) in the
// function gives a candidate; the candidate is a task when, under real
// "go test", at least one test fails and at least one still passes. The
// agent gets the faulty function and the visible test; the hidden tests decide.
//
// Build makes and validates the set; its result ships as tasks.jsonl, which
// Default returns. Read and Write are the format of that file, for any task.
//
// Splits keep what is measured apart from what is trained on: all tasks of a
// function are in "heldout-function", or none is; "heldout-fault" holds other
// faults of the functions that "train" has.
package mine
