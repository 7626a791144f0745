// SwiGLU (Shazeer 2020, arXiv:2002.05202), with the roundings of Hugging Face's MLP:
//
//	out = round(round(gate*s) * up)      with s = sigmoid(gate)
//
// and its gradients, in float from the stored values, rounded once; up is multiplied
// by what the forward pass multiplied it by:
//
//	dup   = d * round(gate*s)
//	dgate = d * up * s*(1 + gate*(1-s))
#include "device.h"
#include "kernels.h"
#include "row.cuh"

namespace millrace {
namespace {

constexpr int threads = 128;

// sigmoid takes the exponential of -|x|, which cannot overflow. In format bf16 the
// approximate instructions, of about 2 float ulps, keep the kernel bound by memory.
template <class T>
__device__ float sigmoid(float x);
template <>
__device__ float sigmoid<float>(float x) {
  const float e = expf(-fabsf(x));
  return (x < 0 ? e : 1) / (1 + e);
}
template <>
__device__ float sigmoid<bf16>(float x) {
  const float e = __expf(-fabsf(x));
  return __fdividef(x < 0 ? e : 1, 1 + e);
}

template <class T, int W>
__global__ void __launch_bounds__(threads) gate(T* out, const T* gate_up, int64_t I) {
  const int64_t row = blockIdx.x, i = (int64_t{blockIdx.y} * threads + threadIdx.x) * W;
  if (i >= I) return;
  Piece<T, W> gate = load<W>(gate_up + row * 2 * I + i);
  const Piece<T, W> up = load<W>(gate_up + row * 2 * I + I + i);
#pragma unroll
  for (int k = 0; k < W; k++) {
    const float g = to_float(gate.value[k]);
    gate.value[k] = from_float<T>(rounded<T>(g * sigmoid<T>(g)) * to_float(up.value[k]));
  }
  store<W>(out + row * I + i, gate);
}

template <class T, int W>
__global__ void __launch_bounds__(threads) gate_backward(T* d_gate_up, const T* d_out, const T* gate_up, int64_t I) {
  const int64_t row = blockIdx.x, i = (int64_t{blockIdx.y} * threads + threadIdx.x) * W;
  if (i >= I) return;
  Piece<T, W> gate = load<W>(gate_up + row * 2 * I + i), up = load<W>(gate_up + row * 2 * I + I + i);
  const Piece<T, W> gradient = load<W>(d_out + row * I + i);
#pragma unroll
  for (int k = 0; k < W; k++) {
    const float g = to_float(gate.value[k]), u = to_float(up.value[k]), d = to_float(gradient.value[k]);
    const float s = sigmoid<T>(g);
    gate.value[k] = from_float<T>(d * u * s * (1 + g * (1 - s)));
    up.value[k] = from_float<T>(d * rounded<T>(g * s));
  }
  store<W>(d_gate_up + row * 2 * I + i, gate);
  store<W>(d_gate_up + row * 2 * I + I + i, up);
}

// grid has a row in x, which may be large, and its parts in y.
dim3 grid(int64_t rows, int64_t I, int width) { return dim3(blocks_for(rows, 1), blocks_for(I, threads * width)); }

}  // namespace

template <class T>
void swiglu(cudaStream_t stream, T* out, const T* gate_up, int64_t rows, int64_t I) {
  if (rows == 0) return;
  with_width<T>(I % Vector<T>::size == 0 && aligned(out, gate_up), [&](auto width) {
    constexpr int W = decltype(width)::value;
    launch(gate<T, W>, grid(rows, I, W), dim3(threads), 0, stream, out, gate_up, I);
  });
}

template <class T>
void swiglu_backward(cudaStream_t stream, T* d_gate_up, const T* d_out, const T* gate_up, int64_t rows, int64_t I) {
  if (rows == 0) return;
  with_width<T>(I % Vector<T>::size == 0 && aligned(d_gate_up, d_out, gate_up), [&](auto width) {
    constexpr int W = decltype(width)::value;
    launch(gate_backward<T, W>, grid(rows, I, W), dim3(threads), 0, stream, d_gate_up, d_out, gate_up, I);
  });
}

template void swiglu(cudaStream_t, float*, const float*, int64_t, int64_t);
template void swiglu(cudaStream_t, bf16*, const bf16*, int64_t, int64_t);
template void swiglu_backward(cudaStream_t, float*, const float*, const float*, int64_t, int64_t);
template void swiglu_backward(cudaStream_t, bf16*, const bf16*, const bf16*, int64_t, int64_t);

}  // namespace millrace
