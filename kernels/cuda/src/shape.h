// The shape of a Qwen3 dense policy, and a batch of sequences packed end to end.
//
// Letters used for shapes, in all files of the library:
//
//   T tokens packed   R rows      V vocabulary     C hidden size
//   H query heads     K kv heads  D head dimension  I intermediate size
//   B sequences       L layers
#pragma once

#include <cstdint>
#include <vector>

namespace millrace {

struct Shape {
  int64_t V, C, I, L, H, K, D, max_positions;
  float eps;
  double theta;
  bool tied;

  int64_t qkv() const { return (H + 2 * K) * D; }
};

// Packed is where the sequences of a pack lie: sequence b is the rows
// [starts[b], starts[b+1]).
struct Packed {
  const int32_t* starts;     // [B+1], on the device
  const int32_t* positions;  // [T], on the device: of each row in its sequence
  std::vector<int32_t> host_starts;
  int32_t sequences, tokens, longest;
};

}  // namespace millrace
