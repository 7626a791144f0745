// Probabilities as integers. A token's weight is exp((z - most)/temperature), most the
// largest logit, in units of 2^-40: sums of weights are exact, so neither the order of
// addition nor that of atomics shows in a result. A token less than 2^-41 as probable
// as the best has weight 0 and is never drawn.
#pragma once

#include <cfloat>
#include <cmath>

#include "number.h"
#include "sampler.h"

namespace millrace {

constexpr int sampler_threads = 1024;
constexpr float log2_e = 1.4426950408889634f;

constexpr int unit_bits = 40;
constexpr uint64_t weight_one = uint64_t{1} << unit_bits;
// So many weights add up in 63 bits.
constexpr int64_t most_vocabulary = int64_t{1} << (63 - unit_bits);

// A row is summed in parts, so that several blocks share one.
constexpr int part_values = 8 * sampler_threads;
inline int64_t parts_of(int64_t V) { return (V + part_values - 1) / part_values; }

// RowPart is what is known of a part of a row. Its weights are relative to its own largest
// logit, which is infinite if a logit is NaN or +Inf, and -Inf if none is finite; then
// they are 0.
struct RowPart {
  float most;
  uint64_t weight;      // at the row's temperature
  uint64_t untempered;  // at temperature 1
};

// scale_of turns differences of logits into those of log2 of the probability. Where
// the best token is taken, the temperature is not used.
__device__ inline float scale_of(const SamplingRow& row) {
  return row.temperature > 0 ? log2_e / row.temperature : log2_e;
}

// fraction is a token's probability relative to that of the best.
__device__ inline float fraction(float z, float most, float scale) { return fminf(exp2f((z - most) * scale), 1); }

__device__ inline uint64_t weight_of(float fraction) {
  return __float2ull_rn(fraction * static_cast<float>(weight_one));
}

// scaling takes a part's weights to those of a row whose largest logit is most.
__device__ inline double scaling(float part_most, float most, float scale) {
  return part_most < most ? exp2((static_cast<double>(part_most) - most) * scale) : 1;
}

// A row's logits are read four at a time; where they are no multiple of 16 bytes, or
// at the row's end, one by one.
struct LogitRow {
  const float* logits;
  int64_t V;
  bool whole_loads;

  __device__ Vector<float> load(int64_t j) const {
    if (whole_loads && j < V) return *reinterpret_cast<const Vector<float>*>(logits + j);
    Vector<float> z;
#pragma unroll
    for (int i = 0; i < Vector<float>::size; i++) z.value[i] = j + i < V ? logits[j + i] : -INFINITY;
    return z;
  }
};

}  // namespace millrace
