#include "ragged.h"

namespace millrace {
namespace {

// Offsets is what a kernel takes by value.
struct Offsets {
  int64_t stride[most_matrices];
};

// describe: a thread for each slot and the end.
__global__ void describe(int32_t* lengths, int64_t* offsets, const int32_t* starts, int sequences, int slots,
                         Offsets of) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > slots) return;
  const int start = starts[min(i, sequences)];
  if (i < slots) lengths[i] = starts[min(i + 1, sequences)] - start;
#pragma unroll
  for (int m = 0; m < most_matrices; m++) offsets[static_cast<int64_t>(m) * (slots + 1) + i] = start * of.stride[m];
}

}  // namespace

int64_t bucket(int64_t n) {
  int64_t size = 64;
  while (size < n && size + size / 2 < n) size *= 2;
  return size >= n ? size : size + size / 2;
}

int64_t slots(int64_t n) {
  int64_t size = 1;
  while (size < n) size *= 2;
  return size;
}

void Ragged::set(const Packed& packed, int64_t slots, const Strides& strides) {
  if (lengths_.size() < static_cast<size_t>(slots)) {
    lengths_ = Buffer<int32_t>(device_, slots, "the lengths of a pack's sequences");
    offsets_ = Buffer<int64_t>(device_, most_matrices * (slots + 1), "the offsets of a pack's sequences");
  }
  slots_ = slots;
  Offsets of;
  for (int m = 0; m < most_matrices; m++) of.stride[m] = strides[m];
  constexpr int threads = 128;
  launch(describe, dim3(static_cast<unsigned>(slots / threads + 1)), dim3(threads), size_t{0}, device_.stream,
         lengths_.data(), offsets_.data(), packed.starts, packed.sequences, static_cast<int>(slots), of);
}

}  // namespace millrace
