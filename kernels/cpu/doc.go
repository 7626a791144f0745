// Package cpu trains and samples a Qwen3 dense policy in float32 on the
// processor. [NewTrainer] and [NewGenerator] implement the interfaces of
// package kernels.
//
// Letters used for shapes, in all files of the package:
//
//	T tokens packed   R rows      V vocabulary     C hidden size
//	H query heads     K kv heads  D head dimension  I intermediate size
//
// Arithmetic follows Hugging Face's modeling_qwen3.py in float32: norm, fused
// q/k/v projection, norm of each query and key head, rotate-half RoPE with
// float32 angles, causal grouped-query attention scaled by D^-1/2, residual,
// norm, SwiGLU, residual; final norm; head (the embedding when tied).
//
// Determinism. Every sum has an order that depends on shapes alone: matrix
// products reduce over k in order, row-wise partial sums are taken over chunks
// of [rowChunk] rows and added in order, attention visits key blocks from the
// first to the last. So the number of threads never shows in a bit of the
// result, and a row of the result does not depend on the other rows of its
// batch: a sequence sampled alone or among others is the same, and the
// generator's log-probabilities are the trainer's. What does change the last
// bits is another split of a batch into micro-batches, or another order of the
// sequences in one, because gradients are then added in another order.
//
// Masks select, they never multiply: whatever stands in LogProbs or Reference
// at a token that is not trained, NaN included, changes nothing.
package cpu
