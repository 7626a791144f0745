// Package learn is the sink of the flow: it gathers samples into the batch of a
// step, runs the update, commits one atomic checkpoint, publishes the new policy
// version and tells the ledger.
//
// What is always true:
//
//   - Each sample enters exactly one step, or leaves as a dead letter (invariants
//     2 and 6). Delivery is at least once; what the ledger holds is dropped.
//   - Weights, optimizer, ledger and positions change together or not at all: a
//     checkpoint is current when the file CURRENT names it, and that file is
//     replaced in one rename. A process killed anywhere resumes to the weights
//     that an undisturbed one reaches on the same log.
//   - The batches and their order are a function of the order of the records
//     given to Consume and of the configuration (invariant 5). With several
//     partitions and a staleness bound above 0 that order is not a property of
//     the log alone; with one partition, or with bound 0, it is.
//   - A sample of weight 0 is in no loss; it is in no denominator either, except
//     under ConstantPublished, which reproduces DeepSWE (invariant 7). A masked one,
//     of weight 1 without a trained token, is in the denominator only.
//   - A step waits for no group that nobody ordered. With MaxDraws above 1, groups in
//     which nothing weighs are consumed beside the step's own and replaced by others;
//     how far each iteration is with that is part of the checkpoint.
//
// [Batcher] decides what a batch is and touches nothing else; [Store] is the
// only one that touches files; [Learner] puts them and a [kernels.Trainer]
// together; [Learn] is the Beam transform around a Learner.
package learn
