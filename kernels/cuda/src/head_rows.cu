#include "head_rows.h"

#include <algorithm>

#include "head_loss.cuh"
#include "head_softmax.cuh"

namespace millrace {
namespace {

// Gradient is what all threads need to turn a row's logits into its gradient:
//
//   p_j  = exp((z_j - most)/temperature) / weight
//   dz_j = by_token * [j = token] - p_j * (constant + by_down * (z_j - most))
struct Gradient {
  float inverse_weight, by_token, constant, by_down;
  int finite;
};

// observe sets log-probability and entropy. The logarithm of p_j is
// (z_j - most)/temperature - log(weight), so neither is the difference of two large
// numbers.
__device__ void observe(Outcome& outcome, const Sums& sums, float logit, double temperature) {
  const double log_weight = log(static_cast<double>(sums.weight));
  outcome.log_prob = (static_cast<double>(logit) - sums.most) / temperature - log_weight;
  outcome.entropy = log_weight - static_cast<double>(sums.moment) / sums.weight / temperature;
  outcome.finite = is_finite(outcome.log_prob) && is_finite(outcome.entropy);
}

// gradient_of evaluates the loss. With g and b the derivatives of the divided loss by
// log-probability and entropy, the gradient by the untempered logit z_j is
//
//   (g * ([j = token] - p_j) - b * p_j * (log p_j + entropy)) / temperature
__device__ Gradient gradient_of(Outcome& outcome, const Sums& sums, const LossSettings& settings, const Target& target,
                                double sequence_ratio) {
  const Slopes slopes = evaluate(outcome, settings, target, sequence_ratio);
  const double by = 1 / (target.denominator * settings.temperature);
  const double by_log_prob = slopes.by_log_prob * by, by_entropy = slopes.by_entropy * by;
  Gradient gradient;
  gradient.inverse_weight = 1 / sums.weight;
  gradient.by_token = static_cast<float>(by_log_prob);
  gradient.constant =
      static_cast<float>(by_log_prob + by_entropy * (outcome.entropy - log(static_cast<double>(sums.weight))));
  gradient.by_down = static_cast<float>(by_entropy / settings.temperature);
  outcome.finite = outcome.finite && is_finite(outcome.loss) && is_finite(gradient.by_token) &&
                   is_finite(gradient.constant) && is_finite(gradient.by_down);
  gradient.finite = outcome.finite;
  return gradient;
}

__global__ void __launch_bounds__(head_threads) log_prob_kernel(HeadChunk chunk, double temperature, float scale) {
  const int64_t r = blockIdx.x;
  const HeadRow row = {chunk.logits + r * chunk.stride, nullptr, chunk.V, 0};
  const Sums sums = row.sum(scale);
  if (threadIdx.x == 0) {
    Outcome outcome = {};
    observe(outcome, sums, row.logits[chunk.targets[r].token], temperature);
    chunk.outcome[r] = outcome;
  }
}

// write_gradient replaces a row of logits by its gradient, in place although T may be
// half as wide as a logit. In a tile all threads load before any stores: then what is
// loaded ends at the byte 4*(tile+1)*head_tile of the row, and what is stored at
// sizeof(T)*(tile+1)*head_tile, which is not behind it. So no store reaches a logit
// that is still to be loaded.
template <class T>
__device__ void write_gradient(const HeadRow& row, const Sums& sums, const Gradient& gradient, int64_t token,
                               float scale) {
  struct alignas(head_piece * sizeof(T)) Store {
    T value[head_piece];
  };
  T* out = reinterpret_cast<T*>(row.logits);
  for (int64_t tile = 0; tile < row.tiles(); tile++) {
    Store store[head_loads];
#pragma unroll
    for (int load = 0; load < head_loads; load++) {
      const int64_t j = row.first(tile, load);
      Vector<float> z = {};
      if (j < row.V) z = row.load(j);
#pragma unroll
      for (int i = 0; i < head_piece; i++) {
        const float down = z.value[i] - sums.most;
        const float p = exp2f(down * scale) * gradient.inverse_weight;
        // Where p is 0, down may be so large that by_down * down is infinite.
        float d = p > 0 ? -p * (gradient.constant + gradient.by_down * down) : 0;
        if (j + i == token) d += gradient.by_token;
        store[load].value[i] = from_float<T>(gradient.finite ? d : 0);
      }
    }
    if (sizeof(T) < sizeof(float)) __syncthreads();
#pragma unroll
    for (int load = 0; load < head_loads; load++) {
      const int64_t j = row.first(tile, load);
      if (j < row.V) *reinterpret_cast<Store*>(out + j) = store[load];
    }
  }
}

template <class T>
__global__ void __launch_bounds__(head_threads)
    differentiate_kernel(HeadChunk chunk, LossSettings settings, const double* ratio, T* inputs, const T* hidden,
                         int64_t C, float scale, int64_t kept) {
  const int64_t r = blockIdx.x;
  const HeadRow row = {chunk.logits + r * chunk.stride, dynamic_shared<float>(), chunk.V, kept};
  const Target target = chunk.targets[r];
  const Sums sums = row.sum(scale);

  __shared__ Gradient gradient;
  if (threadIdx.x == 0) {
    Outcome outcome = {};
    observe(outcome, sums, row.logits[target.token], settings.temperature);
    gradient = gradient_of(outcome, sums, settings, target, ratio ? ratio[target.sequence] : 1);
    chunk.outcome[r] = outcome;
  }
  __syncthreads();

  write_gradient<T>(row, sums, gradient, target.token, scale);
  for (int64_t c = threadIdx.x; c < C; c += head_threads) {
    inputs[r * C + c] = gradient.finite ? hidden[r * C + c] : from_float<T>(0);
  }
}

// A warp looks at each target, and those that begin a sequence walk to its end. The
// order of the sum depends on the sequence's length alone.
constexpr int ratio_threads = 256;

__global__ void sequence_ratio_kernel(double* ratio, const Outcome* outcome, const Target* targets, int64_t n) {
  const int64_t first = (static_cast<int64_t>(blockIdx.x) * ratio_threads + threadIdx.x) / 32;
  if (first >= n) return;
  const int32_t sequence = targets[first].sequence;
  if (first > 0 && targets[first - 1].sequence == sequence) return;
  double sum = 0;
  int tokens = 0;
  for (int64_t i = first + threadIdx.x % 32; i < n && targets[i].sequence == sequence; i += 32) {
    sum += difference_of(targets[i], outcome[i].log_prob);
    tokens++;
  }
  for (int flip = 16; flip > 0; flip /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, flip);
    tokens += __shfl_xor_sync(0xffffffffu, tokens, flip);
  }
  if (threadIdx.x % 32 == 0) ratio[sequence] = exp(sum / tokens);
}

float scale_of(double temperature) { return static_cast<float>(1.4426950408889634 / temperature); }

}  // namespace

void log_prob_rows(const Device& device, const HeadChunk& chunk, double temperature) {
  launch(log_prob_kernel, dim3(static_cast<unsigned>(chunk.rows)), dim3(head_threads), 0, device.stream, chunk,
         temperature, scale_of(temperature));
}

void sequence_ratios(const Device& device, double* ratio, const Outcome* outcome, const Target* targets, int64_t n) {
  const int64_t blocks = (n * 32 + ratio_threads - 1) / ratio_threads;
  launch(sequence_ratio_kernel, dim3(static_cast<unsigned>(blocks)), dim3(ratio_threads), 0, device.stream, ratio,
         outcome, targets, n);
}

template <class T>
void differentiate_rows(const Device& device, const HeadChunk& chunk, const LossSettings& settings, const double* ratio,
                        T* inputs, const T* hidden, int64_t C) {
  // The rest of the block's shared memory is for the kernel's own variables.
  constexpr size_t own = 2048;
  const int64_t fits = static_cast<int64_t>((device.shared_limit - own) / sizeof(Vector<float>)) * head_piece;
  const int64_t kept = std::min(chunk.stride, fits);
  launch(differentiate_kernel<T>, dim3(static_cast<unsigned>(chunk.rows)), dim3(head_threads), kept * sizeof(float),
         device.stream, chunk, settings, ratio, inputs, hidden, C, scale_of(settings.temperature), kept);
}

template void differentiate_rows<float>(const Device&, const HeadChunk&, const LossSettings&, const double*, float*,
                                        const float*, int64_t);
template void differentiate_rows<bf16>(const Device&, const HeadChunk&, const LossSettings&, const double*, bf16*,
                                       const bf16*, int64_t);

}  // namespace millrace
