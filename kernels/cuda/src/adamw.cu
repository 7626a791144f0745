// AdamW (Loshchilov & Hutter 2019, arXiv:1711.05101; decoupled weight decay, bias
// correction as in Adam), in float32:
//
//	h  = gradient * scale
//	m  = beta1*m + (1-beta1)*h
//	v  = beta2*v + (1-beta2)*h*h
//	w -= learning_rate * (m*c1/(sqrt(v*c2) + epsilon) + weight_decay*w)
//
// with c1 = 1/(1-beta1^step), c2 = 1/(1-beta2^step). The scale that clips is read from
// the device, and gradients are zeroed once read. In format bf16 w is the weight's
// master (master.h), which takes the same bits as a weight of format float; the new
// weight is the master rounded.
//
// Bytes moved for a weight, in format bf16: 28 read or written by the formula, and 4
// of the gradient's zero.
#include <cmath>

#include "device.h"
#include "kernels.h"
#include "master.h"
#include "row.cuh"

namespace millrace {
namespace {

constexpr int threads = 256;
constexpr int weights_each = 4;  // of a thread: 16 bytes of each float array

// AdamNumbers is a step as the kernel computes with it.
struct AdamNumbers {
  float rate, beta1, rest1, beta2, rest2, correction1, correction2, epsilon, decay;

  explicit AdamNumbers(const AdamStep& step)
      : rate(static_cast<float>(step.learning_rate)),
        beta1(static_cast<float>(step.beta1)),
        rest1(1 - beta1),
        beta2(static_cast<float>(step.beta2)),
        rest2(1 - beta2),
        correction1(static_cast<float>(1 / (1 - std::pow(step.beta1, static_cast<double>(step.step))))),
        correction2(static_cast<float>(1 / (1 - std::pow(step.beta2, static_cast<double>(step.step))))),
        epsilon(static_cast<float>(step.epsilon)),
        decay(static_cast<float>(step.weight_decay)) {}
};

// Weights of format T: their float32 values, which both formats keep exactly.
template <class T, int W>
struct Values;

template <int W>
struct Values<float, W> {
  Piece<float, W> weight;

  __device__ Values(const float* at, const uint16_t*, int64_t i) : weight(load<W>(at + i)) {}
  __device__ float get(int k) const { return weight.value[k]; }
  __device__ void set(int k, float x) { weight.value[k] = x; }
  __device__ void store_remainder(uint16_t*, int64_t) const {}
};

template <int W>
struct Values<bf16, W> {
  Piece<bf16, W> weight;
  Piece<uint16_t, W> remainder;

  __device__ Values(const bf16* at, const uint16_t* remainder_at, int64_t i)
      : weight(load<W>(at + i)), remainder(load<W>(remainder_at + i)) {}
  __device__ float get(int k) const { return join_master(weight.value[k], remainder.value[k]); }
  __device__ void set(int k, float x) {
    const Master master = split_master(x);
    weight.value[k] = master.weight;
    remainder.value[k] = master.remainder;
  }
  __device__ void store_remainder(uint16_t* at, int64_t i) const { store<W>(at + i, remainder); }
};

template <class T, int W>
__global__ void __launch_bounds__(threads)
    step_weights(T* written, const T* weight, uint16_t* remainder, float* m_at, float* v_at, float* gradient_at,
                 int64_t n, AdamNumbers a, const GradientNorm* __restrict__ norm) {
  const int64_t i = (int64_t{blockIdx.x} * threads + threadIdx.x) * W;
  if (i >= n) return;
  const Piece<float, W> zero = {};
  if (!norm->finite) {
    store<W>(gradient_at + i, zero);
    store<W>(written + i, load<W>(weight + i));
    return;
  }

  Values<T, W> values(weight, remainder, i);
  const Piece<float, W> gradient = load<W>(gradient_at + i);
  Piece<float, W> m = load<W>(m_at + i), v = load<W>(v_at + i);
  const float scale = norm->scale;
#pragma unroll
  for (int k = 0; k < W; k++) {
    const float h = gradient.value[k] * scale, w = values.get(k);
    // Written as they are fused, so that every instantiation gives the same bits.
    m.value[k] = fmaf(a.beta1, m.value[k], a.rest1 * h);
    v.value[k] = fmaf(a.beta2, v.value[k], a.rest2 * h * h);
    const float move = m.value[k] * a.correction1 / (sqrtf(v.value[k] * a.correction2) + a.epsilon);
    values.set(k, fmaf(-a.rate, fmaf(a.decay, w, move), w));
  }
  store<W>(written + i, values.weight);
  values.store_remainder(remainder, i);
  store<W>(m_at + i, m);
  store<W>(v_at + i, v);
  store<W>(gradient_at + i, zero);
}

template <class T, int W>
void step_some(cudaStream_t stream, T* written, const T* weight, uint16_t* remainder, float* m, float* v,
               float* gradient, int64_t from, int64_t to, const AdamNumbers& numbers, const GradientNorm* norm) {
  if (from == to) return;
  launch(step_weights<T, W>, dim3(blocks_for(to - from, threads * W)), dim3(threads), 0, stream, written + from,
         weight + from, remainder == nullptr ? nullptr : remainder + from, m + from, v + from, gradient + from,
         to - from, numbers, norm);
}

}  // namespace

template <class T>
void adamw(cudaStream_t stream, T* written, const T* weight, uint16_t* remainder, float* m, float* v, float* gradient,
           int64_t n, const AdamStep& step, const GradientNorm* norm) {
  const AdamNumbers numbers(step);
  const int64_t whole = aligned(written, weight, remainder, m, v, gradient) ? n - n % weights_each : 0;
  step_some<T, weights_each>(stream, written, weight, remainder, m, v, gradient, 0, whole, numbers, norm);
  step_some<T, 1>(stream, written, weight, remainder, m, v, gradient, whole, n, numbers, norm);
}

template void adamw(cudaStream_t, float*, const float*, uint16_t*, float*, float*, float*, int64_t, const AdamStep&,
                    const GradientNorm*);
template void adamw(cudaStream_t, bf16*, const bf16*, uint16_t*, float*, float*, float*, int64_t, const AdamStep&,
                    const GradientNorm*);

}  // namespace millrace
