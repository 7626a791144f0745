// Sampling of the next token on the device.
#pragma once

#include <cuda_runtime.h>

#include "number.h"

namespace millrace {

// SamplingRow are one sequence's settings in a tick. The layout is part of the ABI.
// Numbers are drawn as kernels/cpu/random.go and sampler.go draw them: seed and
// the token's position decide, so both backends choose the same token from the same
// distribution. The cuts come after the temperature, in the order min_p, top_k, top_p, each
// on what the one before left.
struct SamplingRow {
  uint64_t seed;
  int64_t position;   // of the token to sample in its sequence
  float temperature;  // 0 takes the most probable token
  float top_p;        // 0 and 1 keep all
  float min_p;        // keeps tokens at least this probable relative to the best; 0 keeps all
  int32_t top_k;      // 0 keeps all
};

// Sampled is what a row gave. The layout is part of the ABI.
struct Sampled {
  int32_t token;              // -1 if a logit is NaN or +Inf or all are -Inf; then the rest is NaN
  float log_prob;             // under the distribution sampled from
  float log_prob_untempered;  // under the softmax of the logits
  int32_t reserved;
};

// sample draws one token for each row of logits [n,V], which it may overwrite.
// scratch has sampler_scratch(n, V) bytes, aligned as an Arena aligns. A row's result
// depends on the row alone. V is at most 2^23.
size_t sampler_scratch(int64_t n, int64_t V);
void sample(cudaStream_t stream, Sampled* result, float* logits, const SamplingRow* rows, int64_t n, int64_t V,
            void* scratch);

}  // namespace millrace
