// The choice under min-p, top-k and top-p by one block, without sorting the row.
//
// Tokens have one order: the more probable first, and of equals the lower id. Each cut
// keeps a beginning of that order, and the token drawn is where the running sum of
// weights in that order reaches a random part of the total. So each is the same
// question: at which token does a running sum, of tokens or of weights, reach a
// threshold?
//
// It is answered by a histogram over the tokens' places: the bin in which the sum
// crosses the threshold is divided again, until it is one token. As soon as the tokens
// up to the crossing's bin are few, they go into a list in shared memory, and each
// thread finds the running sums at one of them.
#pragma once

#include "block_scan.cuh"
#include "sampler_weights.cuh"

namespace millrace {

enum class Cut { top_k, top_p, draw };

// A place is unique and ascends in the order of the tokens. Its upper half is the
// distance in bits of the token's fraction from 1: floats above 0 are ordered as
// their bits, and equal distances are equal factors of probability. Its lower half is
// the id.
using Place = uint64_t;

__device__ inline unsigned distance_of(float fraction) { return __float_as_uint(1.0f) - __float_as_uint(fraction); }
__device__ inline Place place_of(float fraction, int64_t id) {
  return static_cast<Place>(distance_of(fraction)) << 32 | static_cast<Place>(id);
}
__device__ inline uint64_t weight_at(Place place) {
  return weight_of(__uint_as_float(__float_as_uint(1.0f) - static_cast<unsigned>(place >> 32)));
}

// Whether settings cut, and so whether tokens are walked in the order of places, is
// decided as kernels/cpu decides it.
__device__ inline bool cuts_top_k(const SamplingRow& row, int64_t V) { return row.top_k > 0 && row.top_k < V; }
__device__ inline bool cuts_top_p(const SamplingRow& row) { return row.top_p > 0 && row.top_p < 1; }
__device__ inline bool cuts_any(const SamplingRow& row, int64_t V) {
  return row.min_p > 0 || cuts_top_k(row, V) || cuts_top_p(row);
}

// last_place is the last that min_p keeps, of those with a weight.
__device__ inline Place last_place(float min_p) {
  const float least = __uint_as_float(__float_as_uint(1.0f / (2 * static_cast<float>(weight_one))) + 1);
  return static_cast<Place>(distance_of(fmaxf(min_p, least))) << 32 | 0xffffffffu;
}

// drawn_at is the threshold of a draw: the first running sum above u * total.
__device__ inline uint64_t drawn_at(double u, uint64_t total) {
  return min(static_cast<uint64_t>(u * static_cast<double>(total)), total - 1) + 1;
}

// threshold_of is what the running sum must reach, of a total.
__device__ inline uint64_t threshold_of(Cut cut, const SamplingRow& row, double u, uint64_t total) {
  switch (cut) {
    case Cut::top_k:
      return min(static_cast<uint64_t>(row.top_k), total);
    case Cut::top_p:
      return min(max(static_cast<uint64_t>(ceil(row.top_p * static_cast<double>(total))), uint64_t{1}), total);
    default:
      return drawn_at(u, total);
  }
}

constexpr int bins = 2 * sampler_threads;
constexpr int bin_bits = 11;
static_assert(bins == 1 << bin_bits, "a level of the histogram takes bin_bits of a place");

// SelectionMemory is shared by the block.
struct SelectionMemory {
  unsigned long long bin[bins];
  Place list[sampler_threads];
  uint64_t weight[sampler_threads];  // of the list
  unsigned listed;
  Place place;           // where a running sum crosses
  uint64_t before, sum;  // before the crossing's bin, and at the crossing's token
};

// Selection narrows what is kept of a row. All threads of the block hold the same
// values, but for count and running.
struct Selection {
  SelectionMemory& memory;
  LogitRow logits;
  float most, scale;
  SamplingRow row;
  double u;

  Place last;          // the last token kept
  bool listed;         // the tokens kept are in the list
  uint64_t total;      // weight of the tokens kept, if listed; else found by reach
  uint64_t count, running;  // tokens and weight up to this thread's place of the list

  // each calls body with every place of the row up to high.
  template <class Body>
  __device__ void each(Place high, Body body) const {
    constexpr int piece = Vector<float>::size;
    for (int64_t j = threadIdx.x * piece; j < logits.V; j += sampler_threads * piece) {
      const Vector<float> z = logits.load(j);
#pragma unroll
      for (int i = 0; i < piece; i++) {
        const Place place = place_of(fraction(z.value[i], most, scale), j + i);
        if (place <= high) body(place);
      }
    }
  }

  // list_up_to puts the tokens up to high into the list if they fit. The order in the
  // list is left to chance, and nothing depends on it.
  __device__ bool list_up_to(Place high) {
    if (threadIdx.x == 0) memory.listed = 0;
    __syncthreads();
    each(high, [&](Place place) {
      const unsigned slot = atomicAdd(&memory.listed, 1u);
      if (slot < sampler_threads) memory.list[slot] = place;
    });
    __syncthreads();
    const unsigned size = memory.listed;
    if (size > sampler_threads) return false;
    const Place mine = threadIdx.x < size ? memory.list[threadIdx.x] : 0;
    memory.weight[threadIdx.x] = weight_at(mine);
    __syncthreads();
    count = running = 0;
    for (unsigned i = 0; i < size; i++) {
      if (memory.list[i] <= mine) {
        count++;
        running += memory.weight[i];
      }
    }
    return true;
  }

  // reach_in_list is the token of the list at which the sum reaches threshold. Its
  // running weight goes to memory.sum.
  __device__ Place reach_in_list(Cut cut, uint64_t threshold) {
    if (threadIdx.x < memory.listed) {
      const uint64_t through = cut == Cut::top_k ? count : running;
      const uint64_t own = cut == Cut::top_k ? 1 : memory.weight[threadIdx.x];
      if (through - own < threshold && threshold <= through) {
        memory.place = memory.list[threadIdx.x];
        memory.sum = running;
      }
    }
    __syncthreads();
    return memory.place;
  }

  // fill makes the histogram of the places in [low,high].
  __device__ void fill(Cut cut, Place low, Place high, int shift) {
    for (int b = threadIdx.x; b < bins; b += sampler_threads) memory.bin[b] = 0;
    __syncthreads();
    each(high, [&](Place place) {
      if (place < low) return;
      const unsigned long long amount = cut == Cut::top_k ? 1 : weight_at(place);
      atomicAdd(&memory.bin[(place - low) >> shift], amount);
    });
    __syncthreads();
  }

  // cross finds the bin in which the sum reaches threshold, and puts its first place
  // and the sum before it into memory. A thread looks at two bins.
  __device__ void cross(Running running_bins, uint64_t before, uint64_t threshold, Place low, int shift) {
    const int first_bin = 2 * threadIdx.x;
    const uint64_t at = before + running_bins.before, first = memory.bin[first_bin], second = memory.bin[first_bin + 1];
    if (at < threshold && threshold <= at + first + second) {
      const bool in_second = threshold > at + first;
      memory.place = low + (static_cast<Place>(first_bin + in_second) << shift);
      memory.before = at + (in_second ? first : 0);
    }
    __syncthreads();
  }

  // reach is the token kept at which the sum reaches its threshold.
  __device__ Place reach(Cut cut) {
    if (listed) return reach_in_list(cut, threshold_of(cut, row, u, total));
    Place low = 0, high = last;
    uint64_t before = 0, threshold = 0;
    for (bool whole = true;; whole = false) {
      const int width = 64 - __clzll(static_cast<long long>(high - low));
      const int shift = max(width - bin_bits, 0);
      fill(cut, low, high, shift);
      const Running running_bins = block_scan(memory.bin[2 * threadIdx.x] + memory.bin[2 * threadIdx.x + 1]);
      if (whole) {
        total = running_bins.total;
        threshold = threshold_of(cut, row, u, total);
      }
      cross(running_bins, before, threshold, low, shift);
      low = memory.place;
      before = memory.before;
      high = min(high, low + ((Place{1} << shift) - 1));
      if (whole && list_up_to(high)) {
        listed = true;
        return reach_in_list(cut, threshold);
      }
      if (shift == 0) return low;
    }
  }

  // choose applies the cuts and draws. It returns the token's id, and leaves in total
  // the weight of the tokens it was drawn from.
  __device__ int32_t choose() {
    if (cuts_top_k(row, logits.V)) keep(Cut::top_k);
    if (cuts_top_p(row)) keep(Cut::top_p);
    return static_cast<int32_t>(reach(Cut::draw) & 0xffffffffu);
  }

  __device__ void keep(Cut cut) {
    last = reach(cut);
    if (listed) total = memory.sum;
    __syncthreads();  // the next crossing writes memory
  }
};

}  // namespace millrace
