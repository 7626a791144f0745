// Forward pass of attention in tiles (flash attention: Dao et al. 2022,
// arXiv:2205.14135). A block owns one tile of queries of one head and visits the
// tiles of keys in order, so the order of every sum is fixed.
#pragma once

#include "attention_tile.cuh"

namespace millrace {
namespace tiles {

template <class G>
constexpr size_t forward_shared() {
  return (2 * G::row_floats + G::square_floats) * sizeof(float);
}

// forward: grid [tiles of the longest sequence, H, B]. factor is D^-1/2 * log2(e):
// scores are in powers of two. Later tiles see more keys and start first.
template <class G, class T>
__global__ void __launch_bounds__(threads, 1)
    forward(Rows<T> out, float* lse, Rows<const T> q, Rows<const T> k, Rows<const T> v, const int32_t* starts, int H,
            int K, int D, float factor) {
  const int start = starts[blockIdx.z], length = starts[blockIdx.z + 1] - start;
  const int from = (gridDim.x - 1 - blockIdx.x) * G::tile;
  if (from >= length) return;
  const int h = blockIdx.y, kv = h / (H / K);
  const int rows = min(G::tile, length - from);

  float* queries = dynamic_shared<float>();
  float* tile = queries + G::row_floats;          // of keys, then of values
  float* weights = tile + G::row_floats;          // [key][row]
  load<G>(queries, q.data + (start + from) * q.stride + h * D, q.stride, rows, D, factor);

  float o[G::R][G::C], highest[G::R], sum[G::R];
  clear<G>(o);
#pragma unroll
  for (int i = 0; i < G::R; i++) {
    highest[i] = -INFINITY;
    sum[i] = 0;
  }

  for (int key = 0; key < from + rows; key += G::tile) {
    const int keys = min(G::tile, length - key);
    load<G>(tile, k.data + (start + key) * k.stride + kv * D, k.stride, keys, D, 1);
    __syncthreads();
    float s[G::R][G::R];
    products<G>(s, queries, tile);
#pragma unroll
    for (int i = 0; i < G::R; i++) {
      const int row = from + thread_y() * G::R + i;
      float m = highest[i];
#pragma unroll
      for (int j = 0; j < G::R; j++) {
        if (key + thread_x() + side * j > row) s[i][j] = -INFINITY;
        m = fmaxf(m, s[i][j]);
      }
      // A tile of keys begins at or before the first of the rows, so each row sees one of
      // its keys and the maximum is finite.
      m = row_max(m);
      const float shrink = exp2f(highest[i] - m);
      highest[i] = m;
      float total = 0;
#pragma unroll
      for (int j = 0; j < G::R; j++) {
        const float p = exp2f(s[i][j] - m);
        total += p;
        weights[(thread_x() + side * j) * G::square_stride + thread_y() * G::R + i] = p;
      }
      sum[i] = fmaf(sum[i], shrink, row_sum(total));
#pragma unroll
      for (int c = 0; c < G::C; c++) o[i][c] *= shrink;
    }
    __syncthreads();
    load<G>(tile, v.data + (start + key) * v.stride + kv * D, v.stride, keys, D, 1);
    __syncthreads();
    accumulate<G>(o, weights, tile);
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < G::R; i++) {
    const int at = thread_y() * G::R + i;
    if (at >= rows) continue;
    const int64_t row = start + from + at;
    store<G>(out.data + row * out.stride + h * D, o[i], D, 1 / sum[i]);
    if (thread_x() == 0) lse[row * H + h] = (highest[i] + log2f(sum[i])) / log2_e;
  }
}

}  // namespace tiles
}  // namespace millrace
