// The global L2 norm of the gradients and the factor that clips it, as torch's
// clip_grad_norm_: min(1, clip_norm/(norm + 1e-6)). Squares are added in double, in
// which the square of no float overflows: the norm is finite if and only if every
// gradient is.
#include <algorithm>

#include "device.h"
#include "kernels.h"
#include "reduce.cuh"
#include "row.cuh"

namespace millrace {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp_threads;
constexpr int64_t gradients_of_block = 4096;  // at least
// Eight blocks for each of an H200's 132 processors. Other devices have the same
// number, so that the sum has one order everywhere.
constexpr int64_t most_blocks = 1056;
constexpr double clip_epsilon = 1e-6;  // keeps the factor finite

// block_sum is the block's sum, in thread 0.
__device__ double block_sum(double x) {
  __shared__ double slots[warps];
  x = warp_sum(x);
  if (threadIdx.x % warp_threads == 0) slots[threadIdx.x / warp_threads] = x;
  __syncthreads();
  double total = 0;
  for (int w = 0; w < warps; w++) total += slots[w];
  return total;
}

template <int W>
__global__ void __launch_bounds__(threads) sum_squares(double* partial, const float* gradients, int64_t n) {
  const int64_t stride = int64_t{gridDim.x} * threads, index = int64_t{blockIdx.x} * threads + threadIdx.x;
  double sum = 0;
#pragma unroll 4
  for (int64_t i = index; i < n / W; i += stride) {
    const Piece<float, W> piece = load<W>(gradients + i * W);
#pragma unroll
    for (int k = 0; k < W; k++) sum += static_cast<double>(piece.value[k]) * piece.value[k];
  }
  if (index < n % W) {
    const double last = gradients[n - n % W + index];
    sum += last * last;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(threads)
    finish_norm(GradientNorm* result, const double* partial, int parts, double clip_norm) {
  double sum = 0;
  for (int p = threadIdx.x; p < parts; p += threads) sum += partial[p];
  sum = block_sum(sum);
  if (threadIdx.x != 0) return;
  const double norm = sqrt(sum);
  const bool finite = isfinite(norm);
  double scale = finite ? 1 : 0;
  if (finite && clip_norm > 0) scale = fmin(1.0, clip_norm / (norm + clip_epsilon));
  *result = {norm, static_cast<float>(scale), finite};
}

}  // namespace

size_t gradient_norm_scratch(int64_t n) {
  return static_cast<size_t>(std::clamp<int64_t>(blocks_for(n, gradients_of_block), 1, most_blocks));
}

void gradient_norm(cudaStream_t stream, GradientNorm* result, double* scratch, const float* gradients, int64_t n,
                   double clip_norm) {
  const int parts = static_cast<int>(gradient_norm_scratch(n));
  with_width<float>(aligned(gradients), [&](auto width) {
    launch(sum_squares<decltype(width)::value>, dim3(parts), dim3(threads), 0, stream, scratch, gradients, n);
  });
  launch(finish_norm, dim3(1), dim3(threads), 0, stream, result, scratch, parts, clip_norm);
}

}  // namespace millrace
