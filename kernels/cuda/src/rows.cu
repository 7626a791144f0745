// Sums and copies of whole rows: the residual stream's, and those of the rows that a
// loss is taken of.
#include "device.h"
#include "kernels.h"
#include "row.cuh"

namespace millrace {
namespace {

constexpr int threads = 128;

template <class T, int W>
__device__ inline void add_piece(T* x, const T* y) {
  Piece<T, W> sum = load<W>(x);
  const Piece<T, W> added = load<W>(y);
#pragma unroll
  for (int k = 0; k < W; k++) sum.value[k] = from_float<T>(to_float(sum.value[k]) + to_float(added.value[k]));
  store<W>(x, sum);
}

template <class T, int W>
__global__ void __launch_bounds__(threads) add_values(T* x, const T* y, int64_t n) {
  const int64_t i = (int64_t{blockIdx.x} * threads + threadIdx.x) * W;
  if (i < n) add_piece<T, W>(x + i, y + i);
}

template <class T, int W>
__global__ void __launch_bounds__(threads)
    gather_rows(T* out, const T* x, const int32_t* __restrict__ rows, int64_t C) {
  const int64_t i = (int64_t{blockIdx.y} * threads + threadIdx.x) * W;
  if (i < C) store<W>(out + blockIdx.x * C + i, load<W>(x + rows[blockIdx.x] * C + i));
}

template <class T, int W>
__global__ void __launch_bounds__(threads)
    scatter_rows(T* x, const T* y, const int32_t* __restrict__ rows, int64_t C) {
  const int64_t i = (int64_t{blockIdx.y} * threads + threadIdx.x) * W;
  if (i < C) add_piece<T, W>(x + rows[blockIdx.x] * C + i, y + blockIdx.x * C + i);
}

}  // namespace

template <class T>
void add(cudaStream_t stream, T* x, const T* y, int64_t n) {
  if (n == 0) return;
  with_width<T>(n % Vector<T>::size == 0 && aligned(x, y), [&](auto width) {
    constexpr int W = decltype(width)::value;
    launch(add_values<T, W>, dim3(blocks_for(n, threads * W)), dim3(threads), 0, stream, x, y, n);
  });
}

template <class T>
void gather(cudaStream_t stream, T* out, const T* x, const int32_t* rows, int64_t n, int64_t C) {
  if (n == 0) return;
  with_width<T>(C % Vector<T>::size == 0 && aligned(out, x), [&](auto width) {
    constexpr int W = decltype(width)::value;
    launch(gather_rows<T, W>, dim3(blocks_for(n, 1), blocks_for(C, threads * W)), dim3(threads), 0, stream, out, x,
           rows, C);
  });
}

template <class T>
void scatter_add(cudaStream_t stream, T* x, const T* y, const int32_t* rows, int64_t n, int64_t C) {
  if (n == 0) return;
  with_width<T>(C % Vector<T>::size == 0 && aligned(x, y), [&](auto width) {
    constexpr int W = decltype(width)::value;
    launch(scatter_rows<T, W>, dim3(blocks_for(n, 1), blocks_for(C, threads * W)), dim3(threads), 0, stream, x, y,
           rows, C);
  });
}

template void add(cudaStream_t, float*, const float*, int64_t);
template void add(cudaStream_t, bf16*, const bf16*, int64_t);
template void gather(cudaStream_t, float*, const float*, const int32_t*, int64_t, int64_t);
template void gather(cudaStream_t, bf16*, const bf16*, const int32_t*, int64_t, int64_t);
template void scatter_add(cudaStream_t, float*, const float*, const int32_t*, int64_t, int64_t);
template void scatter_add(cudaStream_t, bf16*, const bf16*, const int32_t*, int64_t, int64_t);

}  // namespace millrace
