// Package reprocess takes trajectories that have a reward through filter and
// advantage again, with other settings or another reward, and tells what changed.
//
// The input ends, so nothing waits for a clock: a group closes with its last member,
// or at the end of the input with the members it has. The input is cut into lanes,
// and all of a group is in one of them; a lane is one element of the pipeline, and
// its trajectories travel between fused steps as pointers:
//
//	lane 0 ─ read, decode, grade ─► filter.Filter ─► advantage.Bundled ─► write ─┐
//	lane 1 ─ ...                                                                 ├─► discard
//
// What is always true:
//   - The input is read and nothing else; the output has a name of its own.
//   - Samples keep the ids and the run of the trajectories that they are made of, so
//     that the same settings give the same bytes.
//   - Every trajectory leaves as a sample, as a dead letter, or was a repeat
//     (invariant 6). [Run] adds that up and fails if it does not balance.
//   - A grader's failure is a failure of the reward, with a dead letter, and never a
//     reward (invariant 1).
package reprocess
