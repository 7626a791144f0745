// Tiles in shared memory, for attention on the CUDA cores: a block of 16 x 16
// threads works on tiles of `tile` rows of one head, W values wide, in float32. A
// tile's columns from D to W are zero, so the products need no case for D.
//
// Thread (x, y) owns the rows y*R .. y*R+R of a product, R = tile/16: a warp reads
// two different rows at a time, which shared memory gives to all its lanes at once.
#pragma once

#include "attention.h"

namespace millrace {
namespace tiles {

constexpr int side = 16;                // threads along one edge of a block
constexpr int threads = side * side;
constexpr float log2_e = 1.44269504088896341f;

// Geometry of a kernel: tile rows, and the head dimension padded to W.
template <int tile_, int W_>
struct Geometry {
  static constexpr int tile = tile_, W = W_;
  static constexpr int R = tile / side;      // rows of a product a thread owns
  static constexpr int C = W / side;         // columns of a [tile, W] product a thread owns
  static constexpr int row_stride = W + 4;   // 16 bytes more: rows begin in different banks
  static constexpr int square_stride = tile + 4;
  static constexpr int row_floats = tile * row_stride;
  static constexpr int square_floats = tile * square_stride;
};

__device__ inline int thread_x() { return threadIdx.x % side; }
__device__ inline int thread_y() { return threadIdx.x / side; }

// column is the m-th column of a [tile, W] product that this thread owns: groups of
// four neighbours, so that a warp reads 16 bytes a lane without a bank conflict.
__device__ inline int column(int m) { return thread_x() * 4 + m / 4 * (4 * side) + m % 4; }

// load fills a tile with n rows of a head, times factor, and zeros.
template <class G, class T>
__device__ void load(float* tile, const T* head, int64_t stride, int n, int D, float factor) {
  constexpr int size = Vector<T>::size;
  const bool wide = D % size == 0 && stride % size == 0 && reinterpret_cast<uintptr_t>(head) % 16 == 0;
  if (wide) {
    for (int i = threadIdx.x; i < G::tile * (G::W / size); i += threads) {
      const int row = i / (G::W / size), at = i % (G::W / size) * size;
      Vector<T> v = {};
      if (row < n && at < D) v = *reinterpret_cast<const Vector<T>*>(head + row * stride + at);
      float* to = tile + row * G::row_stride + at;
#pragma unroll
      for (int j = 0; j < size; j++) to[j] = to_float(v.value[j]) * factor;
    }
  } else {
    for (int i = threadIdx.x; i < G::tile * G::W; i += threads) {
      const int row = i / G::W, at = i % G::W;
      tile[row * G::row_stride + at] = row < n && at < D ? to_float(head[row * stride + at]) * factor : 0;
    }
  }
}

// products: acc[i][j] = sum over d of a[y*R+i][d] * b[x+16*j][d], d ascending.
template <class G>
__device__ void products(float (&acc)[G::R][G::R], const float* a, const float* b) {
#pragma unroll
  for (int i = 0; i < G::R; i++)
#pragma unroll
    for (int j = 0; j < G::R; j++) acc[i][j] = 0;
#pragma unroll 4
  for (int d = 0; d < G::W; d += 4) {
    float4 u[G::R], v[G::R];
#pragma unroll
    for (int i = 0; i < G::R; i++) {
      u[i] = *reinterpret_cast<const float4*>(a + (thread_y() * G::R + i) * G::row_stride + d);
      v[i] = *reinterpret_cast<const float4*>(b + (thread_x() + side * i) * G::row_stride + d);
    }
#pragma unroll
    for (int i = 0; i < G::R; i++)
#pragma unroll
      for (int j = 0; j < G::R; j++) {
        float s = acc[i][j];
        s = fmaf(u[i].x, v[j].x, s);
        s = fmaf(u[i].y, v[j].y, s);
        s = fmaf(u[i].z, v[j].z, s);
        acc[i][j] = fmaf(u[i].w, v[j].w, s);
      }
  }
}

// accumulate: acc[i][m] += sum over k of a[k][y*R+i] * b[k][column(m)], k ascending. a
// is a square, b a tile.
template <class G>
__device__ void accumulate(float (&acc)[G::R][G::C], const float* a, const float* b) {
#pragma unroll 4
  for (int k = 0; k < G::tile; k++) {
    float u[G::R];
#pragma unroll
    for (int i = 0; i < G::R; i++) u[i] = a[k * G::square_stride + thread_y() * G::R + i];
#pragma unroll
    for (int m = 0; m < G::C; m += 4) {
      const float4 v = *reinterpret_cast<const float4*>(b + k * G::row_stride + column(m));
#pragma unroll
      for (int i = 0; i < G::R; i++) {
        acc[i][m] = fmaf(u[i], v.x, acc[i][m]);
        acc[i][m + 1] = fmaf(u[i], v.y, acc[i][m + 1]);
        acc[i][m + 2] = fmaf(u[i], v.z, acc[i][m + 2]);
        acc[i][m + 3] = fmaf(u[i], v.w, acc[i][m + 3]);
      }
    }
  }
}

template <class G>
__device__ void clear(float (&acc)[G::R][G::C]) {
#pragma unroll
  for (int i = 0; i < G::R; i++)
#pragma unroll
    for (int m = 0; m < G::C; m++) acc[i][m] = 0;
}

// Quad is four neighbouring columns of a row.
template <class T>
struct alignas(4 * sizeof(T)) Quad {
  T value[4];
};

// store writes row i of this thread's part of a product, times factor, into a row of
// a head.
template <class G, class T>
__device__ void store(T* row, const float (&acc)[G::C], int D, float factor) {
  const bool wide = D % 4 == 0 && reinterpret_cast<uintptr_t>(row) % sizeof(Quad<T>) == 0;
#pragma unroll
  for (int m = 0; m < G::C; m += 4) {
    const int at = column(m);
    if (wide) {
      Quad<T> q;
#pragma unroll
      for (int j = 0; j < 4; j++) q.value[j] = from_float<T>(acc[m + j] * factor);
      if (at < D) *reinterpret_cast<Quad<T>*>(row + at) = q;
    } else {
#pragma unroll
      for (int j = 0; j < 4; j++)
        if (at + j < D) row[at + j] = from_float<T>(acc[m + j] * factor);
    }
  }
}

// row_max and row_sum combine a value of the 16 threads that own the same rows; all
// get the result.
__device__ inline float row_max(float x) {
#pragma unroll
  for (int step = side / 2; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, step));
  return x;
}
__device__ inline float row_sum(float x) {
#pragma unroll
  for (int step = side / 2; step > 0; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
}

}  // namespace tiles
}  // namespace millrace
