// Package filter decides which trajectories are trained on: compact filtering
// by termination reason.
//
// A rollout that was cut off by a limit says little about whether its steps were
// good, and training on it teaches the policy to hurry or to stall. DeepSWE
// masks such rollouts out of the loss ("compact filtering"). As published, the
// masked ones still sit in their group with reward 0, where they lower the
// baseline of the others, and in the loss's denominator; here that is one mode,
// and leaving them out altogether is the default (invariant 7).
//
// The filter drops nothing: every member leaves, marked, so that its group can
// be counted complete (invariant 6).
package filter
