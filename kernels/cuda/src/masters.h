// Weights between the host's float32 and their format on the device, to all 32 bits.
#pragma once

#include <cuda_runtime.h>

#include "number.h"

namespace millrace {

// split: the weight of master[i] goes to weight[i], the rest to remainder[i]. In format
// float there is no rest, and remainder is not read. join undoes it.
void split(cudaStream_t stream, float* weight, uint16_t* remainder, const float* master, int64_t n);
void split(cudaStream_t stream, bf16* weight, uint16_t* remainder, const float* master, int64_t n);
void join(cudaStream_t stream, float* master, const float* weight, const uint16_t* remainder, int64_t n);
void join(cudaStream_t stream, float* master, const bf16* weight, const uint16_t* remainder, int64_t n);

}  // namespace millrace
