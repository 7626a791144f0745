// The random numbers of sampling, to the bit those of kernels/cpu/random.go.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace millrace {

// mix is SplitMix64's output function.
__host__ __device__ inline uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// uniform returns a number in [0,1) with 53 random bits that depends on seed and
// position alone: SplitMix64 (Steele, Lea, Flood 2014) started at a mix of the two and
// advanced once.
__host__ __device__ inline double uniform(uint64_t seed, int64_t position) {
  constexpr uint64_t golden = 0x9e3779b97f4a7c15u;  // 2^64 divided by the golden ratio
  const uint64_t x = mix(seed + golden * (static_cast<uint64_t>(position) + 1));
  return static_cast<double>(mix(x + golden) >> 11) * 0x1p-53;
}

}  // namespace millrace
