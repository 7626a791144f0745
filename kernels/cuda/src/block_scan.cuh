// Running sums over the threads of a block, in integers: the order of addition does
// not matter to the bit.
#pragma once

#include <cstdint>

namespace millrace {

// Running is a thread's place in a sum: what the threads before it add up to, and what
// all do.
struct Running {
  uint64_t before, total;
};

// block_scan: the whole block, of whole warps, calls it.
__device__ inline Running block_scan(uint64_t mine) {
  __shared__ uint64_t slots[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  uint64_t through = mine;
#pragma unroll
  for (int back = 1; back < 32; back *= 2) {
    const uint64_t other = __shfl_up_sync(0xffffffffu, through, back);
    if (lane >= back) through += other;
  }
  __syncthreads();  // the slots may still be read by the call before
  if (lane == 31) slots[warp] = through;
  __syncthreads();
  Running running = {through - mine, 0};
  for (int w = 0; w < warps; w++) {
    if (w < warp) running.before += slots[w];
    running.total += slots[w];
  }
  return running;
}

// block_max: the whole block, of whole warps, calls it.
__device__ inline float block_max(float x) {
  __shared__ float slots[32];
#pragma unroll
  for (int flip = 16; flip > 0; flip /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, flip));
  __syncthreads();  // the slots may still be read by the call before
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = x;
  __syncthreads();
  for (int w = 0; w < static_cast<int>(blockDim.x / 32); w++) x = fmaxf(x, slots[w]);
  return x;
}

}  // namespace millrace
