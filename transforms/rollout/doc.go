// Package rollout runs the agent: it turns a work order (a task, an iteration
// and a group size) into trajectories.
//
//	Order ──► Worker ──► n x Agent.Run ──► trajectories
//	             │            │
//	             │            ├─ policy session: token ids in, token ids and log-probs out
//	             │            └─ a world: sandbox + the four tools, or a text environment
//	             └─ retries, tombstones, dead letters
//
// What holds for every trajectory that leaves the package:
//
//   - Invariant 3, token in, token out: Tokens is the sequence the policy holds;
//     LossMask is true exactly at tokens the policy sampled, and each of those
//     has its log-probability and policy version.
//   - Invariant 1, no failure becomes a reward: a rollout whose sandbox or policy
//     failed is run again, and after the last attempt it leaves as a tombstone
//     (Termination failed, no tokens) beside a dead letter, so that its group can
//     close without it.
//   - Invariant 4: the agent's sandbox is made of Task.Files alone.
//   - Ids and random numbers are functions of the order, so an order that is run
//     again gives the same ids, and with the same weights the same tokens.
//
// The package knows neither Beam nor Kafka: a pipeline hands Worker.Do to the
// asynchronous stage of transforms/kafkaio.
package rollout
