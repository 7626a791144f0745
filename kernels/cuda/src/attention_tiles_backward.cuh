// Backward pass of attention in tiles. With S the scores in powers of two:
//
//	P  = exp2(S - lse)
//	dV = P^T dO             dP = dO V^T
//	dS = P * (dP - delta)   delta = sum(dO*O) by row
//	dQ = dS K * D^-1/2      dK = dS^T Q * D^-1/2
//
// One kernel makes dQ and one dK and dV, each recomputing P: a block alone writes its
// rows, in an order of sums that is fixed, so nothing is added up by atomics.
#pragma once

#include "attention_tile.cuh"

namespace millrace {
namespace tiles {

template <class G>
constexpr size_t backward_shared() {
  return (4 * G::row_floats + 2 * G::square_floats + 2 * G::tile) * sizeof(float);
}

// delta: [T,H], a warp for each row and head.
template <class T>
__global__ void delta(float* delta, Rows<const T> dout, Rows<const T> out, int64_t tokens, int H, int D) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (i >= tokens * H) return;
  const int64_t row = i / H, h = i % H;
  const T* a = dout.data + row * dout.stride + h * D;
  const T* b = out.data + row * out.stride + h * D;
  float sum = 0;
  for (int d = threadIdx.x % 32; d < D; d += 32) sum = fmaf(to_float(a[d]), to_float(b[d]), sum);
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) delta[i] = sum;
}

// Sides are what both kernels read of a pack.
template <class T>
struct Sides {
  Rows<const T> q, k, v, dout;
  const float *lse, *delta;  // [T,H]
  const int32_t* starts;
  int H, K, D;
  float scale;  // D^-1/2
};

// Row statistics of a tile of queries: lse in powers of two, and delta.
template <class G, class T>
__device__ void load_statistics(float* lse, float* delta, const Sides<T>& in, int64_t row, int rows, int h) {
  for (int i = threadIdx.x; i < G::tile; i += threads) {
    lse[i] = i < rows ? in.lse[(row + i) * in.H + h] * log2_e : 0;
    delta[i] = i < rows ? in.delta[(row + i) * in.H + h] : 0;
  }
}

// gradients turns scores s and products dp = dO V^T of a pair of tiles, that begin at
// positions from and key, into P and dS; both are 0 where a row does not see a key.
template <class G>
__device__ void gradients(float (&s)[G::R][G::R], float (&dp)[G::R][G::R], const float* lse, const float* delta,
                          int from, int rows, int key) {
#pragma unroll
  for (int i = 0; i < G::R; i++) {
    const int row = thread_y() * G::R + i;
#pragma unroll
    for (int j = 0; j < G::R; j++) {
      const bool sees = row < rows && key + thread_x() + side * j <= from + row;
      s[i][j] = sees ? exp2f(s[i][j] - lse[row]) : 0;
      dp[i][j] = sees ? s[i][j] * (dp[i][j] - delta[row]) : 0;
    }
  }
}

// query_gradient: grid [tiles of the longest sequence, H, B].
template <class G, class T>
__global__ void __launch_bounds__(threads, 1) query_gradient(Rows<T> dq, Sides<T> in) {
  const int start = in.starts[blockIdx.z], length = in.starts[blockIdx.z + 1] - start;
  const int from = (gridDim.x - 1 - blockIdx.x) * G::tile;
  if (from >= length) return;
  const int h = blockIdx.y, kv = h / (in.H / in.K), D = in.D;
  const int rows = min(G::tile, length - from);

  float* queries = dynamic_shared<float>();
  float* douts = queries + G::row_floats;
  float* keys = douts + G::row_floats;
  float* values = keys + G::row_floats;
  float* ds = values + G::row_floats;  // [key][row]
  float* lse = ds + G::square_floats;
  float* delta = lse + G::tile;
  const int64_t first = start + from;
  load<G>(queries, in.q.data + first * in.q.stride + h * D, in.q.stride, rows, D, in.scale * log2_e);
  load<G>(douts, in.dout.data + first * in.dout.stride + h * D, in.dout.stride, rows, D, 1);
  load_statistics<G>(lse, delta, in, first, rows, h);

  float acc[G::R][G::C];
  clear<G>(acc);
  for (int key = 0; key < from + rows; key += G::tile) {
    const int n = min(G::tile, length - key);
    load<G>(keys, in.k.data + (start + key) * in.k.stride + kv * D, in.k.stride, n, D, 1);
    load<G>(values, in.v.data + (start + key) * in.v.stride + kv * D, in.v.stride, n, D, 1);
    __syncthreads();
    float s[G::R][G::R], dp[G::R][G::R];
    products<G>(s, queries, keys);
    products<G>(dp, douts, values);
    gradients<G>(s, dp, lse, delta, from, rows, key);
#pragma unroll
    for (int i = 0; i < G::R; i++)
#pragma unroll
      for (int j = 0; j < G::R; j++)
        ds[(thread_x() + side * j) * G::square_stride + thread_y() * G::R + i] = dp[i][j];
    __syncthreads();
    accumulate<G>(acc, ds, keys);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < G::R; i++) {
    const int at = thread_y() * G::R + i;
    if (at < rows) store<G>(dq.data + (first + at) * dq.stride + h * D, acc[i], D, in.scale);
  }
}

// key_gradient: grid [tiles of the longest sequence, K, B]. The query heads of a group
// follow each other in order, and each one's tiles of queries too.
template <class G, class T>
__global__ void __launch_bounds__(threads, 1) key_gradient(Rows<T> dk, Rows<T> dv, Sides<T> in) {
  const int start = in.starts[blockIdx.z], length = in.starts[blockIdx.z + 1] - start;
  const int key = blockIdx.x * G::tile;
  if (key >= length) return;
  const int kv = blockIdx.y, group = in.H / in.K, D = in.D;
  const int n = min(G::tile, length - key);

  float* keys = dynamic_shared<float>();
  float* values = keys + G::row_floats;
  float* queries = values + G::row_floats;
  float* douts = queries + G::row_floats;
  float* weights = douts + G::row_floats;  // [row][key]
  float* ds = weights + G::square_floats;  // [row][key]
  float* lse = ds + G::square_floats;
  float* delta = lse + G::tile;
  const int64_t first = start + key;
  load<G>(keys, in.k.data + first * in.k.stride + kv * D, in.k.stride, n, D, 1);
  load<G>(values, in.v.data + first * in.v.stride + kv * D, in.v.stride, n, D, 1);

  float acc_k[G::R][G::C], acc_v[G::R][G::C];
  clear<G>(acc_k);
  clear<G>(acc_v);
  for (int h = kv * group; h < (kv + 1) * group; h++) {
    for (int from = key; from < length; from += G::tile) {
      const int rows = min(G::tile, length - from);
      const int64_t at = start + from;
      load<G>(queries, in.q.data + at * in.q.stride + h * D, in.q.stride, rows, D, in.scale * log2_e);
      load<G>(douts, in.dout.data + at * in.dout.stride + h * D, in.dout.stride, rows, D, 1);
      load_statistics<G>(lse, delta, in, at, rows, h);
      __syncthreads();
      float s[G::R][G::R], dp[G::R][G::R];
      products<G>(s, queries, keys);
      products<G>(dp, douts, values);
      gradients<G>(s, dp, lse, delta, from, rows, key);
#pragma unroll
      for (int i = 0; i < G::R; i++)
#pragma unroll
        for (int j = 0; j < G::R; j++) {
          const int to = (thread_y() * G::R + i) * G::square_stride + thread_x() + side * j;
          weights[to] = s[i][j];
          ds[to] = dp[i][j];
        }
      __syncthreads();
      accumulate<G>(acc_v, weights, douts);
      accumulate<G>(acc_k, ds, queries);
      __syncthreads();
    }
  }
#pragma unroll
  for (int i = 0; i < G::R; i++) {
    const int at = thread_y() * G::R + i;
    if (at >= n) continue;
    // The queries in shared memory are scaled by D^-1/2 * log2(e).
    store<G>(dk.data + (first + at) * dk.stride + kv * D, acc_k[i], D, 1 / log2_e);
    store<G>(dv.data + (first + at) * dv.stride + kv * D, acc_v[i], D, 1);
  }
}

}  // namespace tiles
}  // namespace millrace
