// Package filter decides which trajectories are trained on: compact filtering
// by termination reason.
//
// A rollout that was cut off by a limit says little about whether its steps were
// good, and training on it teaches the policy to hurry or to stall. DeepSWE
// masks such rollouts out of the loss ("compact filtering"); they stay in their
// group with reward 0. That they stay is needed: an agent that submits only what
// its tests have passed has reward 1 in every rollout it finishes, so without
// the others every advantage of its groups is 0, and nothing teaches it to need
// fewer steps. What a clock has cut off is another matter, and does not count.
//
// The filter drops nothing: every member leaves, marked, so that its group can
// be counted complete (invariant 6).
package filter
