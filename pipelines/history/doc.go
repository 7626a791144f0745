// Package history makes tasks out of the history of a Go module: a commit that
// changed source and tests together is a task, whose snapshot is the commit before,
// whose hidden tests are the commit's, and whose gold patch is the rest of it
// (SWE-bench's construction, on a local clone and without a forge).
//
// What must always be true of a task made here:
//   - the first parent is the base: a merge counts as one change;
//   - which tests fail before and pass after was seen, each more than once where they
//     pass;
//   - every test file of the commit is hidden, and what the commit made of test files
//     (below testdata too) is in the scorer's workspace only;
//   - the statement is the commit's message, or the issue that it says it closes,
//     without trailers and hashes.
//
// Which commits are looked at, with the numbers:
//
//	no bots          title, author or message has one of the words of SWE-RL (bots)
//	source and tests at least one source file and one *_test.go file
//	not huge         at most 8 source files, 500 changed lines of source, 15 files in
//	                 all, no binary file (SWE-smith's mirror, SWE-rebench)
//	no big file      at most 10,000 lines in each changed source file (SWE-smith)
//	a statement      more than 10 characters (SWE-rebench)
//	same modules     with dependencies, go.mod and go.sum are as before
package history
