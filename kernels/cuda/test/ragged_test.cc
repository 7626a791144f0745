#include "ragged.h"

#include "check.h"

using namespace millrace;
using namespace millrace::test;

TEST(ragged_buckets) {
  const std::vector<std::pair<int64_t, int64_t>> cases = {
      {0, 64},   {1, 64},    {64, 64},   {65, 96},       {96, 96},
      {97, 128}, {129, 192}, {193, 256}, {16384, 16384}, {16385, 24576}};
  for (auto [n, size] : cases)
    expect(bucket(n) == size, "bucket of " + std::to_string(n) + " is " + std::to_string(bucket(n)));
  for (auto [n, size] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {2, 2}, {3, 4}, {8, 8}, {9, 16}})
    expect(slots(n) == size, "slots of " + std::to_string(n) + " are " + std::to_string(slots(n)));
}

// Sequences beyond the pack's have no rows and lie behind the last one; a smaller pack
// may follow a larger one.
TEST(ragged_offsets) {
  Ragged ragged(device());
  for (const std::vector<int32_t>& starts : {std::vector<int32_t>{0, 5, 6, 40, 41, 41}, {0, 200}}) {
    const OnDevice<int32_t> on_starts(starts);
    Packed packed = {};
    packed.starts = on_starts;
    packed.sequences = static_cast<int32_t>(starts.size()) - 1;
    const int64_t room = slots(packed.sequences) + 1;
    const Strides strides = {100, 1, int64_t{1} << 40, 0, 7, 8, 9, 10};
    ragged.set(packed, room, strides);

    std::vector<int32_t> lengths(room);
    std::vector<int64_t> offsets(most_matrices * (room + 1));
    check(cudaMemcpyAsync(lengths.data(), ragged.lengths(), room * 4, cudaMemcpyDeviceToHost, device().stream),
          "reading lengths");
    for (int m = 0; m < most_matrices; m++)
      check(cudaMemcpyAsync(&offsets[m * (room + 1)], ragged.offsets(m), (room + 1) * 8, cudaMemcpyDeviceToHost,
                            device().stream),
            "reading offsets");
    device().synchronize();
    for (int64_t i = 0; i <= room; i++) {
      const bool exists = i < packed.sequences;
      const int64_t start = exists ? starts[i] : starts.back();
      if (i < room) expect(lengths[i] == (exists ? starts[i + 1] - starts[i] : 0), "length " + std::to_string(i));
      for (int m = 0; m < most_matrices; m++)
        expect(offsets[m * (room + 1) + i] == start * strides[m],
               "offset " + std::to_string(i) + " of matrix " + std::to_string(m));
    }
  }
}
