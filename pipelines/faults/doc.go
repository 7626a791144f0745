// Package faults makes tasks out of a Go module whose tests pass: a modifier of
// package procedural breaks a function, and the task is to mend it (SWE-smith's
// procedural strategy, for any module on disk).
//
// What must always be true of a task made here:
//   - its snapshot is the module with one change in one function, and its gold patch
//     undoes exactly that;
//   - its tests are those of the packages that the change can reach; which of them
//     fail and pass was seen, and a test that is flaky without the change is in
//     neither list;
//   - the files that hold a fail-to-pass test are hidden (invariant 4), with those
//     that would not compile without them;
//   - its statement names no test, no place in a file, and no line of the change.
package faults
