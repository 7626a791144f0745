// One part of a sequence's keys against some of its query vectors.
//
// A query vector is one head of one row. What attention gives it depends on its keys
// alone, to the bit, however many rows and sequences there are and whether the parts
// are computed by one block or by many:
//
//	keys are cut into parts of part_tokens from position 0;
//	a score is a chain of fused multiply-adds over d ascending;
//	a part's maximum m is over the keys the row sees, its weights are exp2(s - m);
//	their sum l has a fixed tree, the weighted values o[d] are chains of fused
//	multiply-adds over keys ascending;
//	parts are folded in order: see Total.
#pragma once

#include "paged_rows.cuh"

namespace millrace {
namespace paged {

constexpr int threads = 256;
constexpr int warps = threads / 32;

// part_tokens is the number of keys in a part: two pages, or one where heads are wide
// and two would leave room for one block on a processor.
__host__ __device__ constexpr int part_tokens(int64_t D) { return D > 128 ? page_tokens : 2 * page_tokens; }

// Part fixes the shapes of a block: vectors query vectors, heads padded to W.
template <class T_, int W_, int vectors_>
struct Part {
  using T = T_;
  static constexpr int W = W_, vectors = vectors_;
  static constexpr int tokens = part_tokens(W);
  static constexpr int size = Vector<T>::size;
  static constexpr int row_threads = W / size;          // that load one row, 16 bytes each
  static constexpr int rows = threads / row_threads;    // loaded at a time
  static constexpr int pieces = tokens / rows;          // loads of a thread
  // Rows of keys begin in different banks: a thread reads its own key.
  static constexpr int key_stride = W + size;
  // Values have their own room if that leaves two blocks to a processor; then all loads
  // of a part are in flight together.
  static constexpr bool together = tokens * W * sizeof(T) <= 32768;

  // A thread scores one key with score_slots vectors, score_groups apart.
  static constexpr int score_groups = threads / tokens;
  static constexpr int score_slots = (vectors + score_groups - 1) / score_groups;
  // A thread weighs two columns for slots vectors, groups apart.
  static constexpr int pairs = W / 2;
  static constexpr int groups = threads / pairs;
  static constexpr int slots = (vectors + groups - 1) / groups;

  static constexpr size_t key_bytes = tokens * key_stride * sizeof(T);
  static constexpr size_t value_bytes = together ? tokens * W * sizeof(T) : 0;
  static constexpr size_t shared = key_bytes + value_bytes + vectors * (W + tokens + 2) * sizeof(float);
};

// Room is the shared memory of a block.
template <class P>
struct Room {
  typename P::T *keys, *values;  // [tokens, key_stride], [tokens, W]
  float* queries;                // [vectors, W], scaled
  float* weights;                // [vectors, tokens]: scores, then weights
  float *highest, *sum;          // [vectors]: m and l

  __device__ explicit Room(char* base) {
    keys = reinterpret_cast<typename P::T*>(base);
    values = P::together ? reinterpret_cast<typename P::T*>(base + P::key_bytes) : keys;
    queries = reinterpret_cast<float*>(base + P::key_bytes + P::value_bytes);
    weights = queries + P::vectors * P::W;
    highest = weights + P::vectors * P::tokens;
    sum = highest + P::vectors;
  }
};

// Source is where the keys or values of a part begin: one or two pages.
template <class T>
struct Source {
  const T *first, *second;
  int n;  // keys to read
};

// fetch starts all of a thread's loads; put writes them to shared memory. Keys from n
// on are zeros: what lies in an unwritten slot may be a NaN. All threads together read
// P::rows rows at a time, a divisor of a page, so a load's page is known at compile time.
template <class P>
__device__ void fetch(Vector<typename P::T> (&piece)[P::pieces], const Source<typename P::T>& source, int D) {
  const int row = threadIdx.x / P::row_threads, at = threadIdx.x % P::row_threads * P::size;
  const int offset = row * D + at;
#pragma unroll
  for (int j = 0; j < P::pieces; j++) {
    const auto* page = j * P::rows < page_tokens ? source.first : source.second;
    piece[j] = {};
    if (row + j * P::rows < source.n && at < D)
      piece[j] = *reinterpret_cast<const Vector<typename P::T>*>(page + (offset + j * P::rows % page_tokens * D));
  }
}
template <class P>
__device__ void put(typename P::T* tile, int stride, const Vector<typename P::T> (&piece)[P::pieces]) {
  const int row = threadIdx.x / P::row_threads, at = threadIdx.x % P::row_threads * P::size;
#pragma unroll
  for (int j = 0; j < P::pieces; j++)
    *reinterpret_cast<Vector<typename P::T>*>(tile + (row + j * P::rows) * stride + at) = piece[j];
}

// copy is for head dimensions that 16 bytes do not divide.
template <class P>
__device__ void copy(typename P::T* tile, int stride, const Source<typename P::T>& source, int D) {
  for (int i = threadIdx.x; i < P::tokens * P::W; i += threads) {
    const int row = i / P::W, at = i % P::W;
    const auto* page = row < page_tokens ? source.first : source.second;
    tile[row * stride + at] =
        row < source.n && at < D ? page[row % page_tokens * D + at] : from_float<typename P::T>(0);
  }
}

// stage brings the keys of a part, and its values if they have their own room.
template <class P>
__device__ void stage(const Room<P>& room, const Source<typename P::T>& keys, const Source<typename P::T>& values,
                      int D) {
  if (D % P::size != 0) {
    copy<P>(room.keys, P::key_stride, keys, D);
    if (P::together) copy<P>(room.values, P::W, values, D);
    return;
  }
  Vector<typename P::T> key[P::pieces];
  fetch<P>(key, keys, D);
  if constexpr (P::together) {
    Vector<typename P::T> value[P::pieces];
    fetch<P>(value, values, D);
    put<P>(room.keys, P::key_stride, key);
    put<P>(room.values, P::W, value);
  } else {
    put<P>(room.keys, P::key_stride, key);
  }
}
template <class P>
__device__ void stage_values(const Room<P>& room, const Source<typename P::T>& values, int D) {
  if (D % P::size != 0) {
    copy<P>(room.values, P::W, values, D);
    return;
  }
  Vector<typename P::T> value[P::pieces];
  fetch<P>(value, values, D);
  put<P>(room.values, P::W, value);
}

// score: weights[v][key] = queries[v] . keys[key], or -infinity where vector v does
// not see the key: it sees seen(v) keys of the part.
template <class P, class Seen>
__device__ void score(const Room<P>& room, int D, int count, Seen seen) {
  const int key = threadIdx.x % P::tokens, group = threadIdx.x / P::tokens;
  float acc[P::score_slots];
#pragma unroll
  for (int i = 0; i < P::score_slots; i++) acc[i] = 0;
#pragma unroll 2
  for (int d = 0; d < D; d += P::size) {
    const auto piece = *reinterpret_cast<const Vector<typename P::T>*>(room.keys + key * P::key_stride + d);
    float k[P::size];
#pragma unroll
    for (int j = 0; j < P::size; j++) k[j] = to_float(piece.value[j]);
#pragma unroll
    for (int i = 0; i < P::score_slots; i++) {
      const int v = group + i * P::score_groups;
      if (v >= count) continue;
#pragma unroll
      for (int j = 0; j < P::size; j += 4) {
        const float4 q = *reinterpret_cast<const float4*>(room.queries + v * P::W + d + j);
        acc[i] = fmaf(q.x, k[j], acc[i]);
        acc[i] = fmaf(q.y, k[j + 1], acc[i]);
        acc[i] = fmaf(q.z, k[j + 2], acc[i]);
        acc[i] = fmaf(q.w, k[j + 3], acc[i]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < P::score_slots; i++) {
    const int v = group + i * P::score_groups;
    if (v < count) room.weights[v * P::tokens + key] = key < seen(v) ? acc[i] : -INFINITY;
  }
}

// soften turns scores into weights, m and l: a warp for each vector. A vector that
// sees no key of the part gets m = -infinity and zeros.
template <class P>
__device__ void soften(const Room<P>& room, int count) {
  constexpr int n = P::tokens / 32;
  const int lane = threadIdx.x % 32;
  for (int v = threadIdx.x / 32; v < count; v += warps) {
    float* row = room.weights + v * P::tokens + lane;
    float s[n], m = -INFINITY, l = 0;
#pragma unroll
    for (int i = 0; i < n; i++) {
      s[i] = row[i * 32];
      m = fmaxf(m, s[i]);
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, step));
#pragma unroll
    for (int i = 0; i < n; i++) {
      const float p = s[i] == -INFINITY ? 0 : exp2f(s[i] - m);
      row[i * 32] = p;
      l += p;
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) l += __shfl_xor_sync(~0u, l, step);
    if (lane == 0) {
      room.highest[v] = m;
      room.sum[v] = l;
    }
  }
}

// weigh: o[slot] = two columns of weights[v] times values, over the first n keys.
template <class P>
__device__ void weigh(float2 (&o)[P::slots], const Room<P>& room, int count, int n) {
  struct alignas(2 * sizeof(typename P::T)) Pair {
    typename P::T x, y;
  };
  const int pair = threadIdx.x % P::pairs, group = threadIdx.x / P::pairs;
#pragma unroll
  for (int i = 0; i < P::slots; i++) o[i] = {0, 0};
#pragma unroll 2
  for (int key = 0; key < n; key += 4) {
    float2 value[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const Pair p = *reinterpret_cast<const Pair*>(room.values + (key + j) * P::W + 2 * pair);
      value[j] = {to_float(p.x), to_float(p.y)};
    }
#pragma unroll
    for (int i = 0; i < P::slots; i++) {
      const int v = group + i * P::groups;
      if (v >= count) continue;
      const float4 w = *reinterpret_cast<const float4*>(room.weights + v * P::tokens + key);
      o[i].x = fmaf(w.x, value[0].x, o[i].x);
      o[i].y = fmaf(w.x, value[0].y, o[i].y);
      o[i].x = fmaf(w.y, value[1].x, o[i].x);
      o[i].y = fmaf(w.y, value[1].y, o[i].y);
      o[i].x = fmaf(w.z, value[2].x, o[i].x);
      o[i].y = fmaf(w.z, value[2].y, o[i].y);
      o[i].x = fmaf(w.w, value[3].x, o[i].x);
      o[i].y = fmaf(w.w, value[3].y, o[i].y);
    }
  }
}

// Total folds parts, in order, into the softmax over all of them.
struct Total {
  float highest = -INFINITY, sum = 0;
  float old_factor, new_factor;

  // fold takes the m and l of the next part; folded does the same to a column.
  __device__ void fold(float m, float l) {
    const float top = fmaxf(highest, m);
    old_factor = exp2f(highest - top);
    new_factor = exp2f(m - top);
    sum = fmaf(sum, old_factor, l * new_factor);
    highest = top;
  }
  __device__ float folded(float total, float part) const { return fmaf(total, old_factor, part * new_factor); }
};

}  // namespace paged
}  // namespace millrace
