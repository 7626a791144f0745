// A pack as a batch of sequences of different lengths, the form in which cuDNN takes it:
// for each sequence its length, and for each matrix where the sequence begins in it.
//
// A plan of cuDNN is made for a number of sequences and a longest one, and making it
// takes a while, so both are rounded up to few values. The sequences that a pack then
// lacks have no rows and lie behind its last one.
#pragma once

#include <array>

#include "device.h"
#include "shape.h"

namespace millrace {

// bucket is the smallest of 64, 96, 128, 192, 256, 384, ... that is at least n.
int64_t bucket(int64_t n);
// slots is the smallest power of two that is at least n.
int64_t slots(int64_t n);

// Strides are the values from row to row of the matrices whose offsets are wanted.
constexpr int most_matrices = 8;
using Strides = std::array<int64_t, most_matrices>;

// Ragged keeps lengths and offsets on the device.
class Ragged {
 public:
  explicit Ragged(const Device& device) : device_(device) {}

  // set computes them for a pack, on the device's stream, with room for slots sequences.
  void set(const Packed& packed, int64_t slots, const Strides& strides);
  int32_t* lengths() const { return lengths_.data(); }                            // [slots]
  int64_t* offsets(int matrix) const { return offsets_.data() + matrix * (slots_ + 1); }  // [slots+1], in values

 private:
  const Device& device_;
  int64_t slots_ = 0;
  Buffer<int32_t> lengths_;
  Buffer<int64_t> offsets_;  // [matrices, slots+1]
};

}  // namespace millrace
