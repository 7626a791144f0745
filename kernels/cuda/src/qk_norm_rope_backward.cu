// The gradients of qk_norm_rope. Rotation is orthogonal, so its gradient is rotated
// back; what then remains is the gradient of RMSNorm (rms_norm_backward.cu) with the
// head as the row:
//
//	d[i]     = dqk[i]*c[i] + dqk[i+D/2]*s[i]
//	d[i+D/2] = dqk[i+D/2]*c[i] - dqk[i]*s[i]
//
// in float from the stored values, rounded once. A block takes query heads only or key
// heads only, so that it sums the gradient of one weight.
#include <algorithm>

#include "column_sums.h"
#include "device.h"
#include "heads.cuh"
#include "kernels.h"

namespace millrace {
namespace {

// Side is the query heads or the key heads of all rows.
struct Side {
  uint32_t items, heads, first;  // heads of all rows, of one row, and the first one's index
  uint32_t blocks;
};

// sides divides the blocks as the heads are divided.
struct Sides {
  Side query, key;

  Sides(int64_t rows, const Shape& shape, int64_t heads_of_block) {
    const auto side = [&](int64_t heads, int64_t first) {
      const int64_t most = std::max<int64_t>(1, partial_blocks * heads / (shape.H + shape.K));
      const uint32_t items = item_count(rows, heads);
      return Side{items, static_cast<uint32_t>(heads), static_cast<uint32_t>(first),
                  static_cast<uint32_t>(std::min<int64_t>(most, blocks_for(items, heads_of_block)))};
    };
    query = side(shape.H, 0);
    key = side(shape.K, shape.H);
  }
};

template <class T, int W>
__global__ void __launch_bounds__(head_threads)
    rotate_back_and_norm(T* dqkv, float* partial, const T* dqk, const T* qkv, const float* __restrict__ factor,
                         const T* __restrict__ q_weight, const T* __restrict__ k_weight,
                         const int32_t* __restrict__ positions, RopeTable<T> rope, Sides sides, int64_t qkv_width,
                         Heads heads) {
  constexpr int pieces = head_pieces<W>;
  const int lanes = heads.lanes, lane = threadIdx.x & (lanes - 1), segment = threadIdx.x / lanes;
  const int half = heads.half_size, D = 2 * half;
  const bool is_key = blockIdx.x >= sides.query.blocks;
  const Side side = is_key ? sides.key : sides.query;
  const uint32_t block = is_key ? blockIdx.x - sides.query.blocks : blockIdx.x;
  const uint32_t heads_of_row = sides.query.heads + sides.key.heads;

  const T* weight = is_key ? k_weight : q_weight;
  const Half<W> low_weight = load_half<W>(weight, half, lane, lanes);
  const Half<W> high_weight = load_half<W>(weight + half, half, lane, lanes);
  Half<W> low_sum = {}, high_sum = {};  // of the weight's gradient

  const uint32_t stride = side.blocks * heads.of_block();
  for (uint32_t first = block * heads.of_block(); first < side.items; first += stride) {
    const uint32_t item = first + segment;
    // Heads beyond the last take part in the sums with zeros and store nothing.
    const bool live = item < side.items;
    const uint32_t row = live ? item / side.heads : 0, head = side.first + (live ? item % side.heads : 0);
    const int size = live ? half : 0;

    const T* in = qkv + row * qkv_width + head * D;
    const T* gradient = dqk + (int64_t{row} * heads_of_row + head) * D;
    const int64_t angle = int64_t{positions[row]} * half;
    Half<W> low = load_half<W>(in, size, lane, lanes), high = load_half<W>(in + half, size, lane, lanes);
    Half<W> low_d = load_half<W>(gradient, size, lane, lanes);
    Half<W> high_d = load_half<W>(gradient + half, size, lane, lanes);
    const Half<W> cos = load_half<W>(rope.cos + angle, size, lane, lanes);
    const Half<W> sin = load_half<W>(rope.sin + angle, size, lane, lanes);
    const float f = factor[int64_t{row} * heads_of_row + head];

    float dot = 0;
#pragma unroll
    for (int p = 0; p < pieces; p++) {
#pragma unroll
      for (int k = 0; k < W; k++) {
        const float a = low_d.value[p][k], b = high_d.value[p][k], c = cos.value[p][k], s = sin.value[p][k];
        low_d.value[p][k] = a * c + b * s;
        high_d.value[p][k] = b * c - a * s;
        dot += low_d.value[p][k] * low_weight.value[p][k] * low.value[p][k] +
               high_d.value[p][k] * high_weight.value[p][k] * high.value[p][k];
      }
    }
    const float g = f * f * (segment_sum(dot, lanes) / D);
#pragma unroll
    for (int p = 0; p < pieces; p++) {
#pragma unroll
      for (int k = 0; k < W; k++) {
        const float a = low.value[p][k], b = high.value[p][k];
        low_sum.value[p][k] += low_d.value[p][k] * rounded<T>(a * f);
        high_sum.value[p][k] += high_d.value[p][k] * rounded<T>(b * f);
        low.value[p][k] = f * (low_d.value[p][k] * low_weight.value[p][k] - a * g);
        high.value[p][k] = f * (high_d.value[p][k] * high_weight.value[p][k] - b * g);
      }
    }
    T* out = dqkv + row * qkv_width + head * D;
    store_half(out, low, size, lane, lanes);
    store_half(out + half, high, size, lane, lanes);
  }

  float* sums = dynamic_shared<float>() + segment * D;  // [heads of a block, D]
  store_half(sums, low_sum, half, lane, lanes);
  store_half(sums + half, high_sum, half, lane, lanes);
  __syncthreads();
  for (int i = threadIdx.x; i < D; i += head_threads) {
    float total = 0;
    for (int h = 0; h < heads.of_block(); h++) total += dynamic_shared<float>()[h * D + i];
    partial[int64_t{blockIdx.x} * D + i] = total;
  }
}

}  // namespace

size_t qk_norm_rope_scratch(int64_t rows, const Shape& shape) {
  const Sides most(rows, shape, 1);
  return static_cast<size_t>((most.query.blocks + most.key.blocks) * shape.D);
}

template <class T>
void qk_norm_rope_backward(cudaStream_t stream, T* dqkv, float* dq_weight, float* dk_weight, float* scratch,
                           const T* dqk, const T* qkv, const float* factor, const T* q_weight, const T* k_weight,
                           const int32_t* positions, RopeTable<T> rope, int64_t rows, const Shape& shape) {
  if (rows == 0) return;
  const bool wide = wide_heads<T>(shape) && aligned(dqkv, dqk, qkv, q_weight, k_weight, rope.cos, rope.sin);
  with_width<T>(wide, [&](auto width) {
    constexpr int W = decltype(width)::value;
    const Heads heads = heads_for(shape, W);
    const Sides sides(rows, shape, heads.of_block());
    launch(rotate_back_and_norm<T, W>, dim3(sides.query.blocks + sides.key.blocks), dim3(head_threads),
           heads.of_block() * shape.D * sizeof(float), stream, dqkv, scratch, dqk, qkv, factor, q_weight, k_weight,
           positions, rope, sides, shape.qkv(), heads);
    add_columns(stream, shape.D, {dq_weight, scratch, static_cast<int>(sides.query.blocks)},
                {dk_weight, scratch + sides.query.blocks * shape.D, static_cast<int>(sides.key.blocks)});
  });
}

template void qk_norm_rope_backward(cudaStream_t, float*, float*, float*, float*, const float*, const float*,
                                    const float*, const float*, const float*, const int32_t*, RopeTable<float>, int64_t,
                                    const Shape&);
template void qk_norm_rope_backward(cudaStream_t, bf16*, float*, float*, float*, const bf16*, const bf16*, const float*,
                                    const bf16*, const bf16*, const int32_t*, RopeTable<bf16>, int64_t, const Shape&);

}  // namespace millrace
