// The query and key heads before attention: RMSNorm of each head and rotation by its
// position (RoPE, Su et al. 2021, arXiv:2104.09864), in one pass, with the roundings of
// Hugging Face's eager path. With n a normalised head (rms_norm.cu), c and s the
// table's row of its position and i < D/2:
//
//	out[i]     = round(round(n[i]*c[i])     + round(-n[i+D/2]*s[i]))
//	out[i+D/2] = round(round(n[i+D/2]*c[i]) + round(n[i]*s[i]))
#include "device.h"
#include "heads.cuh"
#include "kernels.h"

namespace millrace {
namespace {

template <class T, int W>
__global__ void __launch_bounds__(head_threads)
    norm_and_rotate(T* qk, float* factor, const T* qkv, const T* __restrict__ q_weight, const T* __restrict__ k_weight,
                    const int32_t* __restrict__ positions, RopeTable<T> rope, uint32_t items, uint32_t items_of_row,
                    uint32_t query_heads, int64_t qkv_width, Heads heads, float eps) {
  const int lane = threadIdx.x & (heads.lanes - 1);
  const uint32_t item = blockIdx.x * heads.of_block() + threadIdx.x / heads.lanes;
  // Heads beyond the last take part in the sums and store nothing.
  const bool live = item < items;
  const uint32_t row = live ? item / items_of_row : 0, head = live ? item % items_of_row : 0;
  const int half = heads.half_size, D = 2 * half;

  const T* in = qkv + row * qkv_width + head * D;
  const T* weight = head < query_heads ? q_weight : k_weight;
  const int64_t angle = int64_t{positions[row]} * half;
  Half<W> low = load_half<W>(in, half, lane, heads.lanes);
  Half<W> high = load_half<W>(in + half, half, lane, heads.lanes);
  const Half<W> low_weight = load_half<W>(weight, half, lane, heads.lanes);
  const Half<W> high_weight = load_half<W>(weight + half, half, lane, heads.lanes);
  const Half<W> cos = load_half<W>(rope.cos + angle, half, lane, heads.lanes);
  const Half<W> sin = load_half<W>(rope.sin + angle, half, lane, heads.lanes);

  float squares = 0;
#pragma unroll
  for (int p = 0; p < head_pieces<W>; p++) {
#pragma unroll
    for (int k = 0; k < W; k++) {
      squares += low.value[p][k] * low.value[p][k] + high.value[p][k] * high.value[p][k];
    }
  }
  const float f = rsqrtf(segment_sum(squares, heads.lanes) / D + eps);
  if (!live) return;
  if (factor != nullptr && lane == 0) factor[item] = f;

#pragma unroll
  for (int p = 0; p < head_pieces<W>; p++) {
#pragma unroll
    for (int k = 0; k < W; k++) {
      const float a = rounded<T>(low_weight.value[p][k] * rounded<T>(low.value[p][k] * f));
      const float b = rounded<T>(high_weight.value[p][k] * rounded<T>(high.value[p][k] * f));
      const float c = cos.value[p][k], s = sin.value[p][k];
      low.value[p][k] = rounded<T>(a * c) - rounded<T>(b * s);
      high.value[p][k] = rounded<T>(b * c) + rounded<T>(a * s);
    }
  }
  T* out = qk + int64_t{item} * D;
  store_half(out, low, half, lane, heads.lanes);
  store_half(out + half, high, half, lane, heads.lanes);
}

}  // namespace

template <class T>
void qk_norm_rope(cudaStream_t stream, T* qk, float* factor, const T* qkv, const T* q_weight, const T* k_weight,
                  const int32_t* positions, RopeTable<T> rope, int64_t rows, const Shape& shape) {
  if (rows == 0) return;
  const bool wide = wide_heads<T>(shape) && aligned(qk, qkv, q_weight, k_weight, rope.cos, rope.sin);
  with_width<T>(wide, [&](auto width) {
    constexpr int W = decltype(width)::value;
    const Heads heads = heads_for(shape, W);
    const uint32_t items_of_row = static_cast<uint32_t>(shape.H + shape.K);
    const uint32_t items = item_count(rows, items_of_row);
    launch(norm_and_rotate<T, W>, dim3(blocks_for(items, heads.of_block())), dim3(head_threads), 0, stream, qk, factor,
           qkv, q_weight, k_weight, positions, rope, items, items_of_row, static_cast<uint32_t>(shape.H), shape.qkv(),
           heads, shape.eps);
  });
}

template void qk_norm_rope(cudaStream_t, float*, float*, const float*, const float*, const float*, const int32_t*,
                           RopeTable<float>, int64_t, const Shape&);
template void qk_norm_rope(cudaStream_t, bf16*, float*, const bf16*, const bf16*, const bf16*, const int32_t*,
                           RopeTable<bf16>, int64_t, const Shape&);

}  // namespace millrace
