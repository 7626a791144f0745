// Package score gives trajectories their reward: it runs the hidden tests on
// what the agent left and reads the verdicts.
//
// What must always be true:
//   - No failure becomes a reward (invariant 1). A sandbox that did not start, a
//     deadline of the host, a full disk: the attempt is repeated, and after the
//     last one the [schemas.Reward] carries Failure and no value. Tests that
//     run into their own time limit, or do not compile, are the agent's doing
//     and worth 0.
//   - The agent never sees the tests (invariant 4). They are written in a fresh
//     sandbox, after the agent's patch, over test files restored to the snapshot.
//   - The reward is a function of the verdicts of the tests, and the verdicts are
//     kept by the content they were found for (see [Key]), so scoring an equal
//     end state twice gives the same reward (invariant 5).
//
// A text environment has goals in place of tests, and a fresh episode in place of a
// fresh sandbox: [Replay].
//
// What it does not defend against: code under test runs in the process that
// reports the verdicts, so a patch that forges the test binary's output stream
// can claim tests that did not run. A test that is also seen to fail stays failed.
package score
