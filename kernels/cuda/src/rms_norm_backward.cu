// The gradients of RMSNorm. With f the row's factor, d the gradient of its output and
// n = round(x*f), what the forward pass multiplied by the weight:
//
//	g = f^2 * mean over c of d[c]*weight[c]*x[c]
//	dx[c] = round(f * (d[c]*weight[c] - x[c]*g) + dsum[c])
//	dweight[c] += sum over rows of d[c]*n[c]
//
// All of it is float arithmetic on the stored values, rounded once: autograd, which
// stores what is in between, differs by its own roundings. Each block goes over its
// rows once. A thread adds to the weight's gradient of its columns in shared memory, and
// alone: in registers the sums would take the room of the loads in flight.
#include <algorithm>

#include "column_sums.h"
#include "device.h"
#include "kernels.h"
#include "reduce.cuh"
#include "row.cuh"

namespace millrace {
namespace {

constexpr int block_threads = 128;

template <class T, int W, bool adds>
__global__ void __launch_bounds__(row_threads)
    norm_rows_backward(T* dx, float* partial, const T* dout, const T* dsum, const T* x, const T* __restrict__ weight,
                       const float* __restrict__ factor, int64_t rows, int64_t C) {
  float* dweight = dynamic_shared<float>() + threadIdx.y * C;  // [teams, C], of this team
  Piece<T, W> scale[row_pieces<W>];
#pragma unroll
  for (int j = 0; j < row_pieces<W>; j++) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i >= C / W) continue;
    scale[j] = load<W>(weight + i * W);
    store<W>(dweight + i * W, Piece<float, W>{});
  }

  int turn = 0;
  const int64_t stride = int64_t{gridDim.x} * blockDim.y;
  for (int64_t first = int64_t{blockIdx.x} * blockDim.y; first < rows; first += stride, turn ^= 1) {
    const int64_t row = first + threadIdx.y;
    const int pieces = row < rows ? static_cast<int>(C / W) : 0;
    const int64_t start = row * C;

    Piece<T, W> value[row_pieces<W>], d[row_pieces<W>], added[row_pieces<W>];
#pragma unroll
    for (int j = 0; j < row_pieces<W>; j++) {
      const int i = threadIdx.x + j * blockDim.x;
      if (i >= pieces) continue;
      value[j] = load<W>(x + start + i * W);
      d[j] = load<W>(dout + start + i * W);
      if (adds) added[j] = load<W>(dsum + start + i * W);
    }
    const float f = pieces > 0 ? factor[row] : 0;

    float dot = 0;
#pragma unroll
    for (int j = 0; j < row_pieces<W>; j++) {
      if (static_cast<int>(threadIdx.x + j * blockDim.x) >= pieces) continue;
#pragma unroll
      for (int k = 0; k < W; k++) {
        dot += to_float(d[j].value[k]) * to_float(scale[j].value[k]) * to_float(value[j].value[k]);
      }
    }
    const float g = f * f * (team_sum(dot, turn) / C);

#pragma unroll
    for (int j = 0; j < row_pieces<W>; j++) {
      const int i = threadIdx.x + j * blockDim.x;
      if (i >= pieces) continue;
      Piece<float, W> sum = load<W>(dweight + i * W);
#pragma unroll
      for (int k = 0; k < W; k++) {
        const float v = to_float(value[j].value[k]), dv = to_float(d[j].value[k]);
        sum.value[k] += dv * rounded<T>(v * f);
        float gradient = f * (dv * to_float(scale[j].value[k]) - v * g);
        if (adds) gradient += to_float(added[j].value[k]);
        value[j].value[k] = from_float<T>(gradient);
      }
      store<W>(dx + start + i * W, value[j]);
      store<W>(dweight + i * W, sum);
    }
  }

  const float* sums = dynamic_shared<float>();
  __syncthreads();
  const int threads = blockDim.x * blockDim.y;
  for (int64_t c = threadIdx.y * blockDim.x + threadIdx.x; c < C; c += threads) {
    float total = 0;
    for (int team = 0; team < static_cast<int>(blockDim.y); team++) total += sums[team * C + c];
    partial[blockIdx.x * C + c] = total;
  }
}

}  // namespace

size_t rms_norm_scratch(int64_t rows, int64_t C) {
  return static_cast<size_t>(std::min<int64_t>(rows, partial_blocks) * C);
}

template <class T>
void rms_norm_backward(cudaStream_t stream, T* dx, float* dweight, float* scratch, const T* dout, const T* dsum,
                       const T* x, const T* weight, const float* factor, int64_t rows, int64_t C) {
  if (rows == 0) return;
  with_width<T>(C % Vector<T>::size == 0 && aligned(dx, dout, dsum, x, weight), [&](auto width) {
    constexpr int W = decltype(width)::value;
    const Teams teams = teams_for(C, block_threads);
    const int blocks = static_cast<int>(std::min<int64_t>(blocks_for(rows, teams.teams), partial_blocks));
    const auto kernel = dsum == nullptr ? norm_rows_backward<T, W, false> : norm_rows_backward<T, W, true>;
    launch(kernel, dim3(blocks), teams.block(), teams.teams * C * sizeof(float), stream, dx, scratch,
           dout, dsum, x, weight, factor, rows, C);
    add_columns(stream, C, {dweight, scratch, blocks});
  });
}

template void rms_norm_backward(cudaStream_t, float*, float*, float*, const float*, const float*, const float*,
                                const float*, const float*, int64_t, int64_t);
template void rms_norm_backward(cudaStream_t, bf16*, float*, float*, const bf16*, const bf16*, const bf16*, const bf16*,
                                const float*, int64_t, int64_t);

}  // namespace millrace
