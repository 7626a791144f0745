// RMSNorm (Zhang & Sennrich 2019, arXiv:1910.07467), with the roundings of Hugging
// Face's Qwen3RMSNorm:
//
//	f = 1/sqrt(mean over c of x[c]^2 + eps)            in float
//	out[c] = round(weight[c] * round(x[c]*f))
//
// add_rms_norm reads x[c] = round(x[c] + y[c]): the norm is of the sum as it is stored,
// not of the exact one.
#include "device.h"
#include "kernels.h"
#include "reduce.cuh"
#include "row.cuh"

namespace millrace {
namespace {

constexpr int block_threads = 128;

template <class T, int W, bool adds>
__global__ void __launch_bounds__(row_threads)
    norm_rows(T* sum, T* out, float* factor, const T* x, const T* y, const T* __restrict__ weight, int64_t rows,
              int64_t C, float eps) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  const int pieces = row < rows ? static_cast<int>(C / W) : 0;
  const int64_t start = row * C;

  Piece<T, W> value[row_pieces<W>], scale[row_pieces<W>], added[row_pieces<W>];
#pragma unroll
  for (int j = 0; j < row_pieces<W>; j++) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i >= pieces) continue;
    value[j] = load<W>(x + start + i * W);
    if (adds) added[j] = load<W>(y + start + i * W);
    scale[j] = load<W>(weight + i * W);
  }

  float squares = 0;
#pragma unroll
  for (int j = 0; j < row_pieces<W>; j++) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i >= pieces) continue;
#pragma unroll
    for (int k = 0; k < W; k++) {
      if (adds) value[j].value[k] = from_float<T>(to_float(value[j].value[k]) + to_float(added[j].value[k]));
      const float v = to_float(value[j].value[k]);
      squares += v * v;
    }
    if (adds) store<W>(sum + start + i * W, value[j]);
  }

  const float f = rsqrtf(team_sum(squares, 0) / C + eps);
  if (factor != nullptr && pieces > 0 && threadIdx.x == 0) factor[row] = f;
#pragma unroll
  for (int j = 0; j < row_pieces<W>; j++) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i >= pieces) continue;
#pragma unroll
    for (int k = 0; k < W; k++) {
      value[j].value[k] = from_float<T>(to_float(scale[j].value[k]) * rounded<T>(to_float(value[j].value[k]) * f));
    }
    store<W>(out + start + i * W, value[j]);
  }
}

template <class T, bool adds>
void norm(cudaStream_t stream, T* sum, T* out, float* factor, const T* x, const T* y, const T* weight, int64_t rows,
          int64_t C, float eps) {
  if (rows == 0) return;
  with_width<T>(C % Vector<T>::size == 0 && aligned(sum, out, x, y, weight), [&](auto width) {
    constexpr int W = decltype(width)::value;
    const Teams teams = teams_for(C, block_threads);
    launch(norm_rows<T, W, adds>, dim3(blocks_for(rows, teams.teams)), teams.block(), 0, stream, sum, out, factor, x, y,
           weight, rows, C, eps);
  });
}

}  // namespace

template <class T>
void rms_norm(cudaStream_t stream, T* out, float* factor, const T* x, const T* weight, int64_t rows, int64_t C,
              float eps) {
  norm<T, false>(stream, nullptr, out, factor, x, nullptr, weight, rows, C, eps);
}

template <class T>
void add_rms_norm(cudaStream_t stream, T* sum, T* out, float* factor, const T* x, const T* y, const T* weight,
                  int64_t rows, int64_t C, float eps) {
  norm<T, true>(stream, sum, out, factor, x, y, weight, rows, C, eps);
}

template void rms_norm(cudaStream_t, float*, float*, const float*, const float*, int64_t, int64_t, float);
template void rms_norm(cudaStream_t, bf16*, float*, const bf16*, const bf16*, int64_t, int64_t, float);
template void add_rms_norm(cudaStream_t, float*, float*, float*, const float*, const float*, const float*, int64_t,
                           int64_t, float);
template void add_rms_norm(cudaStream_t, bf16*, bf16*, float*, const bf16*, const bf16*, const bf16*, int64_t, int64_t,
                           float);

}  // namespace millrace
