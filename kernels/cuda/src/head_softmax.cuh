// One pass over a row of logits by one block: all that log-probability, entropy and
// gradient need to know of the softmax. Sums are in float, in an order that depends on
// V alone.
//
// The pass runs from the row's end to its start. The pass that writes the gradient
// runs from start to end, so it finds the first part of the row in shared memory,
// where this one leaves it, and the next in the second-level cache.
#pragma once

#include <cfloat>

#include "number.h"

namespace millrace {

constexpr int head_threads = 1024;
constexpr int head_warps = head_threads / 32;
constexpr int head_loads = 2;                                           // of 16 bytes in flight a thread
constexpr int head_piece = Vector<float>::size;                         // logits of a load
constexpr int64_t head_tile = head_threads * head_loads * head_piece;  // logits of a block at a time

// Sums are of a part of a row z, relative to its largest logit. Non-finite logits make
// weight or moment NaN, and nothing of another row.
struct Sums {
  float most;    // the largest logit
  float weight;  // sum of exp((z - most)/temperature)
  float moment;  // sum of exp((z - most)/temperature) * (z - most)
};

// of_nothing are the sums of no logits.
__device__ inline Sums of_nothing() { return {-FLT_MAX, 0, 0}; }

// merge takes the sums of two parts. scale is log2(e)/temperature.
__device__ inline Sums merge(const Sums& a, const Sums& b, float scale) {
  Sums both;
  both.most = fmaxf(a.most, b.most);
  const float down_a = a.most - both.most, down_b = b.most - both.most;
  const float by_a = exp2f(down_a * scale), by_b = exp2f(down_b * scale);
  both.weight = a.weight * by_a + b.weight * by_b;
  both.moment = (a.moment + a.weight * down_a) * by_a + (b.moment + b.weight * down_b) * by_b;
  return both;
}

// add takes the first count logits of a load.
__device__ inline void add(Sums& sums, const Vector<float>& z, int count, float scale) {
  Sums part = of_nothing();
#pragma unroll
  for (int i = 0; i < head_piece; i++) {
    if (i < count) part.most = fmaxf(part.most, z.value[i]);
  }
  if (part.most > sums.most) sums = merge(sums, part, scale);
#pragma unroll
  for (int i = 0; i < head_piece; i++) {
    if (i < count) {
      const float down = z.value[i] - sums.most;
      const float weight = exp2f(down * scale);
      sums.weight += weight;
      sums.moment += weight * down;
    }
  }
}

// block_merge gives every thread the sums of the block's.
__device__ inline Sums block_merge(Sums sums, float scale) {
  __shared__ Sums slots[head_warps];
#pragma unroll
  for (int flip = 16; flip > 0; flip /= 2) {
    Sums other;
    other.most = __shfl_xor_sync(0xffffffffu, sums.most, flip);
    other.weight = __shfl_xor_sync(0xffffffffu, sums.weight, flip);
    other.moment = __shfl_xor_sync(0xffffffffu, sums.moment, flip);
    // The lower lane's part comes first, so that both lanes get the same bits.
    sums = threadIdx.x & flip ? merge(other, sums, scale) : merge(sums, other, scale);
  }
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = sums;
  __syncthreads();
  Sums total = slots[0];
  for (int w = 1; w < head_warps; w++) total = merge(total, slots[w], scale);
  return total;
}

// HeadRow is a row of logits. Rows begin at multiples of 16 bytes and have room for
// whole loads behind V. The first kept logits, a multiple of a load, are also in
// shared memory after sum.
struct HeadRow {
  float* logits;
  float* shared;
  int64_t V, kept;

  // first is where a thread's load begins in a tile, and valid how many of its logits
  // exist.
  __device__ static int64_t first(int64_t tile, int load) {
    return tile * head_tile + (static_cast<int64_t>(load) * head_threads + threadIdx.x) * head_piece;
  }
  __device__ int valid(int64_t first) const {
    return static_cast<int>(min(max(V - first, int64_t{0}), int64_t{head_piece}));
  }
  __device__ int64_t tiles() const { return (V + head_tile - 1) / head_tile; }

  __device__ Sums sum(float scale) const {
    Sums sums = of_nothing();
    for (int64_t tile = tiles() - 1; tile >= 0; tile--) {
      Vector<float> z[head_loads];
#pragma unroll
      for (int load = 0; load < head_loads; load++) {
        const int64_t j = first(tile, load);
        if (j < V) z[load] = *reinterpret_cast<const Vector<float>*>(logits + j);
      }
#pragma unroll
      for (int load = 0; load < head_loads; load++) {
        const int64_t j = first(tile, load);
        if (j < kept) *reinterpret_cast<Vector<float>*>(shared + j) = z[load];
        add(sums, z[load], valid(j), scale);
      }
    }
    return block_merge(sums, scale);
  }

  // load is for after sum. A thread finds in shared memory what it put there itself.
  __device__ Vector<float> load(int64_t j) const {
    return *reinterpret_cast<const Vector<float>*>(j < kept ? shared + j : logits + j);
  }
};

}  // namespace millrace
