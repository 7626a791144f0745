// The two number formats of a policy, float and bf16, and the roundings of Hugging
// Face's implementation. Kernels are templates over the format T: they load T,
// compute in float and store T. In format float nothing is rounded on the way.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace millrace {

using bf16 = __nv_bfloat16;

__host__ __device__ inline float to_float(float x) { return x; }
__host__ __device__ inline float to_float(bf16 x) { return __bfloat162float(x); }

template <class T>
__host__ __device__ inline T from_float(float x);
template <>
__host__ __device__ inline float from_float<float>(float x) { return x; }
template <>
__host__ __device__ inline bf16 from_float<bf16>(float x) { return __float2bfloat16_rn(x); }

// rounded is x as it is after being stored as T.
template <class T>
__host__ __device__ inline float rounded(float x) { return to_float(from_float<T>(x)); }

// Vector is what one thread loads at a time: 16 bytes.
template <class T>
struct alignas(16) Vector {
  static constexpr int size = 16 / sizeof(T);
  T value[size];
};

}  // namespace millrace
