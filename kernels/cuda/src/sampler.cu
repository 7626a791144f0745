// Two kernels: one sums parts of rows, a block each, so that a batch of one still
// occupies the device, and one chooses, a block a row. What a part is depends on V
// alone, so a row's result does not depend on the batch.
#include <string>

#include "device.h"
#include "sampler_cut.cuh"
#include "sampler_weights.cuh"
#include "uniform.h"

namespace millrace {
namespace {

constexpr int piece = Vector<float>::size;
constexpr int loads = part_values / (sampler_threads * piece);

__global__ void __launch_bounds__(sampler_threads)
    sum_parts_kernel(RowPart* parts, const float* logits, const SamplingRow* rows, int64_t V, bool whole_loads) {
  const int64_t r = blockIdx.y, first = static_cast<int64_t>(blockIdx.x) * part_values;
  const LogitRow row = {logits + r * V, V, whole_loads};
  Vector<float> z[loads];
#pragma unroll
  for (int load = 0; load < loads; load++) {
    z[load] = row.load(first + (load * sampler_threads + threadIdx.x) * piece);
  }
  float most = -INFINITY;
#pragma unroll
  for (int load = 0; load < loads; load++) {
#pragma unroll
    for (int i = 0; i < piece; i++) most = z[load].value[i] <= FLT_MAX ? fmaxf(most, z[load].value[i]) : INFINITY;
  }
  most = block_max(most);

  RowPart part = {most, 0, 0};
  if (fabsf(most) <= FLT_MAX) {
    const float scale = scale_of(rows[r]);
#pragma unroll
    for (int load = 0; load < loads; load++) {
#pragma unroll
      for (int i = 0; i < piece; i++) {
        part.weight += weight_of(fraction(z[load].value[i], most, scale));
        part.untempered += weight_of(fraction(z[load].value[i], most, log2_e));
      }
    }
    part.weight = block_scan(part.weight).total;
    part.untempered = block_scan(part.untempered).total;
  }
  if (threadIdx.x == 0) parts[r * gridDim.x + blockIdx.x] = part;
}

// RowSums is what the parts of a row come to. mine and weight are of the part whose
// number is this thread's.
struct RowSums {
  RowPart mine;
  float most;
  double down;      // scaling of mine
  uint64_t weight;  // of mine, on the row's scale
  double untempered;
};

__device__ RowSums sum_row(const RowPart* parts, int count, float scale) {
  RowSums sums;
  sums.mine = static_cast<int>(threadIdx.x) < count ? parts[threadIdx.x] : RowPart{-INFINITY, 0, 0};
  sums.most = block_max(sums.mine.most);
  sums.down = scaling(sums.mine.most, sums.most, scale);
  sums.weight = static_cast<uint64_t>(sums.mine.weight * sums.down);
  const double untempered = sums.mine.untempered * scaling(sums.mine.most, sums.most, log2_e);
  sums.untempered = static_cast<double>(block_scan(static_cast<uint64_t>(untempered)).total);
  return sums;
}

// find_in_part is the first token of a part at which the sum of amount(z) reaches
// threshold, which is not above the whole part's.
template <class Amount>
__device__ int32_t find_in_part(const LogitRow& row, int64_t part, uint64_t threshold, Amount amount) {
  __shared__ int32_t found;
  const int64_t first = part * part_values + static_cast<int64_t>(threadIdx.x) * loads * piece;
  uint64_t amounts[loads * piece], mine = 0;
#pragma unroll
  for (int load = 0; load < loads; load++) {
    const Vector<float> z = row.load(first + load * piece);
#pragma unroll
    for (int i = 0; i < piece; i++) mine += amounts[load * piece + i] = amount(z.value[i]);
  }
  uint64_t at = block_scan(mine).before;
#pragma unroll
  for (int i = 0; i < loads * piece; i++) {
    if (at < threshold && threshold <= at + amounts[i]) found = static_cast<int32_t>(first + i);
    at += amounts[i];
  }
  __syncthreads();
  return found;
}

// best is the first of the most probable tokens.
__device__ int32_t best(const LogitRow& row, const RowSums& sums) {
  __shared__ int part;
  const uint64_t has = sums.mine.most == sums.most;
  const Running running = block_scan(has);
  if (has && running.before == 0) part = threadIdx.x;
  __syncthreads();
  return find_in_part(row, part, 1, [&](float z) { return static_cast<uint64_t>(z == sums.most); });
}

// walk draws from all tokens, in the order of their ids: first a part, then a token
// of it. It sets total to the weight of the row.
__device__ int32_t walk(const LogitRow& row, const RowSums& sums, float scale, double u, uint64_t& total) {
  __shared__ int part;
  __shared__ float part_most;
  __shared__ uint64_t part_threshold;
  const Running running = block_scan(sums.weight);
  total = running.total;
  const uint64_t threshold = drawn_at(u, total);
  if (running.before < threshold && threshold <= running.before + sums.weight) {
    part = threadIdx.x;
    part_most = sums.mine.most;
    // What is left of the threshold, on the part's own scale. Rounding may leave it
    // just outside.
    const uint64_t rest = static_cast<uint64_t>(ceil((threshold - running.before) / sums.down));
    part_threshold = min(max(rest, uint64_t{1}), sums.mine.weight);
  }
  __syncthreads();
  return find_in_part(row, part, part_threshold, [&](float z) { return weight_of(fraction(z, part_most, scale)); });
}

__global__ void __launch_bounds__(sampler_threads)
    choose_kernel(Sampled* result, const float* logits, const RowPart* parts, const SamplingRow* rows, int count,
                  int64_t V, bool whole_loads) {
  __shared__ SelectionMemory memory;
  const int64_t r = blockIdx.x;
  const SamplingRow settings = rows[r];
  const LogitRow row = {logits + r * V, V, whole_loads};
  const float scale = scale_of(settings);
  const RowSums sums = sum_row(parts + r * count, count, scale);
  if (!(fabsf(sums.most) <= FLT_MAX)) {
    if (threadIdx.x == 0) result[r] = {-1, NAN, NAN, 0};
    return;
  }
  uint64_t total = weight_one;
  int32_t token;
  if (!(settings.temperature > 0)) {
    token = best(row, sums);
  } else {
    const double u = uniform(settings.seed, settings.position);
    if (cuts_any(settings, V)) {
      Selection selection = {memory, row, sums.most, scale, settings, u, last_place(settings.min_p), false, 0, 0, 0};
      token = selection.choose();
      total = selection.total;
    } else {
      token = walk(row, sums, scale, u, total);
    }
  }
  if (threadIdx.x == 0) {
    const double down = static_cast<double>(row.logits[token]) - sums.most;
    const double tempered = settings.temperature > 0 ? down / settings.temperature : 0;
    const double one = static_cast<double>(weight_one);
    result[r] = {token, static_cast<float>(tempered - log(total / one)),
                 static_cast<float>(down - log(sums.untempered / one)), 0};
  }
}

}  // namespace

size_t sampler_scratch(int64_t n, int64_t V) { return n * parts_of(V) * sizeof(RowPart); }

void sample(cudaStream_t stream, Sampled* result, float* logits, const SamplingRow* rows, int64_t n, int64_t V,
            void* scratch) {
  if (V < 1 || V > most_vocabulary) {
    throw Error(Status::invalid, "sampling from " + std::to_string(V) + " tokens: at most " +
                                     std::to_string(most_vocabulary) + " are possible");
  }
  if (n == 0) return;
  RowPart* parts = static_cast<RowPart*>(scratch);
  const int count = static_cast<int>(parts_of(V));
  const bool whole_loads = V % piece == 0 && reinterpret_cast<uintptr_t>(logits) % sizeof(Vector<float>) == 0;
  launch(sum_parts_kernel, dim3(count, static_cast<unsigned>(n)), dim3(sampler_threads), 0, stream, parts, logits, rows,
         V, whole_loads);
  launch(choose_kernel, dim3(static_cast<unsigned>(n)), dim3(sampler_threads), 0, stream, result, logits, parts, rows,
         count, V, whole_loads);
}

}  // namespace millrace
