// How the heads of a row are divided among threads: a head is a segment of a warp's
// lanes, a power of two of them. A lane holds pieces of the head's first half and the
// same pieces of its second half, since rotation turns the pairs (i, i+D/2).
//
// A head's result depends on its own values alone, never on the number of rows.
#pragma once

#include "reduce.cuh"
#include "row.cuh"
#include "shape.h"

namespace millrace {

constexpr int head_threads = 128;  // of a block

// head_pieces is the number of pieces that a lane holds of each half: a warp then holds
// heads of up to 256 values, whatever the pieces.
template <int W>
constexpr int head_pieces = W == 1 ? 4 : 1;

// Half is a part of a half head as float, and Half h.value[p][k] is its element
// (lane + p*lanes)*W + k.
template <int W>
struct Half {
  float value[head_pieces<W>][W];
};

// load_half reads a half of half_size values. What is beyond it is 0.
template <int W, class T>
__device__ inline Half<W> load_half(const T* at, int half_size, int lane, int lanes) {
  Half<W> half;
#pragma unroll
  for (int p = 0; p < head_pieces<W>; p++) {
    const int i = (lane + p * lanes) * W;
    if (i < half_size) {
      const Piece<T, W> piece = load<W>(at + i);
#pragma unroll
      for (int k = 0; k < W; k++) half.value[p][k] = to_float(piece.value[k]);
    } else {
#pragma unroll
      for (int k = 0; k < W; k++) half.value[p][k] = 0;
    }
  }
  return half;
}

template <int W, class T>
__device__ inline void store_half(T* at, const Half<W>& half, int half_size, int lane, int lanes) {
#pragma unroll
  for (int p = 0; p < head_pieces<W>; p++) {
    const int i = (lane + p * lanes) * W;
    if (i >= half_size) continue;
    Piece<T, W> piece;
#pragma unroll
    for (int k = 0; k < W; k++) piece.value[k] = from_float<T>(half.value[p][k]);
    store<W>(at + i, piece);
  }
}

// Heads is the division for a shape.
struct Heads {
  int half_size;  // D/2
  int lanes;      // of a head

  __host__ __device__ int of_block() const { return head_threads / lanes; }
};

inline Heads heads_for(const Shape& shape, int width) {
  if (shape.D < 2 || shape.D > 256 || shape.D % 2 != 0) {
    throw Error(Status::invalid, "heads of " + std::to_string(shape.D) +
                                     " values cannot be rotated: their number must be even and at most 256");
  }
  Heads heads = {static_cast<int>(shape.D / 2), 1};
  while (heads.lanes < warp_threads && heads.lanes * width < heads.half_size) heads.lanes *= 2;
  return heads;
}

// item_count is the number of heads in all rows, as the kernels count them.
inline uint32_t item_count(int64_t rows, int64_t heads_of_row) {
  if (rows > INT32_MAX / heads_of_row) {
    throw Error(Status::invalid, std::to_string(rows) + " rows of " + std::to_string(heads_of_row) +
                                     " heads are more than a launch can count");
  }
  return static_cast<uint32_t>(rows * heads_of_row);
}

// wide_heads tells whether 16-byte pieces divide half a head in format T.
template <class T>
inline bool wide_heads(const Shape& shape) {
  return shape.D % (2 * Vector<T>::size) == 0;
}

}  // namespace millrace
