// The embedding, and its gradient as a sum in the order of the rows: a token that
// stands in a pack often has its rows summed by several groups of threads, each in
// order, and the groups are added in order.
#include "device.h"
#include "kernels.h"
#include "row.cuh"

namespace millrace {
namespace {

constexpr int groups = 8;  // of a token's rows

template <class T, int W>
__global__ void __launch_bounds__(warp_threads* groups)
    sum_occurrences(float* dtable, const T* dout, Occurrences at, int64_t C) {
  __shared__ float group_sum[groups][W][warp_threads];
  const int lane = threadIdx.x, group = threadIdx.y;
  const int64_t c = (int64_t{blockIdx.y} * warp_threads + lane) * W;
  const int32_t start = at.offset[blockIdx.x], count = at.offset[blockIdx.x + 1] - start;

  float sum[W];
#pragma unroll
  for (int k = 0; k < W; k++) sum[k] = 0;
  if (c < C) {
#pragma unroll 4
    for (int32_t i = group; i < count; i += groups) {
      const Piece<T, W> piece = load<W>(dout + at.row[start + i] * C + c);
#pragma unroll
      for (int k = 0; k < W; k++) sum[k] += to_float(piece.value[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < W; k++) group_sum[group][k][lane] = sum[k];
  __syncthreads();
  if (group != 0 || c >= C) return;

  const int used = min(groups, count);
  for (int g = 1; g < used; g++) {
#pragma unroll
    for (int k = 0; k < W; k++) sum[k] += group_sum[g][k][lane];
  }
  float* total = dtable + at.unique[blockIdx.x] * C + c;
  Piece<float, W> gradient = load<W>(total);
#pragma unroll
  for (int k = 0; k < W; k++) gradient.value[k] += sum[k];
  store<W>(total, gradient);
}

}  // namespace

template <class T>
void embed(cudaStream_t stream, T* out, const T* table, const int32_t* tokens, int64_t rows, int64_t C) {
  gather(stream, out, table, tokens, rows, C);
}

template <class T>
void embed_backward(cudaStream_t stream, float* dtable, const T* dout, const Occurrences& at, int64_t C) {
  if (at.count == 0) return;
  with_width<T>(C % Vector<T>::size == 0 && aligned(dtable, dout), [&](auto width) {
    constexpr int W = decltype(width)::value;
    launch(sum_occurrences<T, W>, dim3(at.count, blocks_for(C, warp_threads * W)), dim3(warp_threads, groups), 0,
           stream, dtable, dout, at, C);
  });
}

template void embed(cudaStream_t, float*, const float*, const int32_t*, int64_t, int64_t);
template void embed(cudaStream_t, bf16*, const bf16*, const int32_t*, int64_t, int64_t);
template void embed_backward(cudaStream_t, float*, const float*, const Occurrences&, int64_t);
template void embed_backward(cudaStream_t, float*, const bf16*, const Occurrences&, int64_t);

}  // namespace millrace
