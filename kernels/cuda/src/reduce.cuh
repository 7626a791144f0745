// Sums among threads. Each has one order, given by the lanes' numbers, and every
// thread that takes part gets the same bits.
#pragma once

#include "row.cuh"

namespace millrace {

constexpr unsigned whole_warp = 0xffffffffu;

// segment_sum sums over segments of lanes lanes, a power of two. The whole warp calls
// it. In each round a pair of lanes adds the same two numbers, so both get the same
// sum.
template <class Number>
__device__ inline Number segment_sum(Number x, int lanes) {
  for (int flip = lanes / 2; flip > 0; flip /= 2) x += __shfl_xor_sync(whole_warp, x, flip);
  return x;
}

template <class Number>
__device__ inline Number warp_sum(Number x) {
#pragma unroll
  for (int flip = warp_threads / 2; flip > 0; flip /= 2) x += __shfl_xor_sync(whole_warp, x, flip);
  return x;
}

// team_sum sums over the threads of one row of the block (see Teams). The whole block
// calls it. Calls alternate turn between 0 and 1: a thread writes the slots of a turn
// only after a barrier that all threads reach after having read that turn's sums
// before, so one barrier a sum is enough.
__device__ inline float team_sum(float x, int turn) {
  __shared__ float slots[2][row_threads / warp_threads];
  x = warp_sum(x);
  const int warps = blockDim.x / warp_threads;
  if (warps == 1) return x;
  float* slot = slots[turn] + threadIdx.y * warps;
  if (threadIdx.x % warp_threads == 0) slot[threadIdx.x / warp_threads] = x;
  __syncthreads();
  float total = 0;
  for (int w = 0; w < warps; w++) total += slot[w];
  return total;
}

}  // namespace millrace
