#include "tick_room.h"

#include <algorithm>

namespace millrace {

namespace {

constexpr const char* what = "the numbers of a tick";

// lay places the arrays one behind the other from base on; the widest type comes first, so
// that all are aligned.
DeviceTick lay(char* base, const TickSizes& s) {
  DeviceTick d;
  d.samplings = reinterpret_cast<SamplingRow*>(base);
  d.tokens = reinterpret_cast<int32_t*>(d.samplings + s.samples);
  d.positions = d.tokens + s.rows;
  d.starts = d.positions + s.rows;
  d.lengths = d.starts + s.sequences + 1;
  d.sampled_rows = d.lengths + s.sequences;
  d.page_table = d.sampled_rows + s.samples;
  return d;
}

size_t bytes_of(const TickSizes& s) {
  return s.samples * sizeof(SamplingRow) +
         (2 * s.rows + 2 * s.sequences + 1 + s.samples + s.sequences * s.stride) * sizeof(int32_t);
}

}  // namespace

TickRoom::TickRoom(const Device& device, const TickSizes& most)
    : device_(device),
      numbers_(device, bytes_of(most), what),
      sampled_(device, most.samples, what),
      host_numbers_(bytes_of(most)),
      host_sampled_(most.samples * sizeof(Sampled)) {}

DeviceTick TickRoom::upload(const HostTick& tick, const TickSizes& sizes, int32_t padding_page) {
  const DeviceTick h = lay(host_numbers_.data(), sizes);
  const int64_t rows = tick.starts[tick.sequences];
  std::copy_n(tick.samplings, tick.samples, h.samplings);
  std::fill(h.samplings + tick.samples, h.samplings + sizes.samples, SamplingRow{});
  std::copy_n(tick.sampled_rows, tick.samples, h.sampled_rows);
  std::copy_n(tick.tokens, rows, h.tokens);
  std::fill(h.tokens + rows, h.tokens + sizes.rows, 0);
  std::copy_n(tick.starts, tick.sequences + 1, h.starts);
  std::copy_n(tick.lengths, tick.sequences, h.lengths);
  std::fill(h.page_table, h.page_table + sizes.sequences * sizes.stride, padding_page);
  for (int64_t b = 0; b < tick.sequences; b++) {
    const int32_t n = tick.starts[b + 1] - tick.starts[b], length = tick.lengths[b];
    for (int32_t i = 0; i < n; i++) h.positions[tick.starts[b] + i] = length - n + i;
    const int64_t pages = std::min(tick.table_stride, sizes.stride);
    std::copy_n(tick.page_table + b * tick.table_stride, pages, h.page_table + b * sizes.stride);
  }
  for (int64_t b = tick.sequences; b < sizes.sequences; b++) {
    h.positions[h.starts[b]] = 0;
    h.lengths[b] = 1;
    h.starts[b + 1] = h.starts[b] + 1;
  }
  for (int64_t i = tick.samples; i < sizes.samples; i++) h.sampled_rows[i] = static_cast<int32_t>(sizes.rows - 1);
  numbers_.write(device_.stream, host_numbers_.data(), bytes_of(sizes));
  return lay(numbers_.data(), sizes);
}

void TickRoom::download(Sampled* to, int64_t n) {
  Sampled* pinned = reinterpret_cast<Sampled*>(host_sampled_.data());
  sampled_.read(device_.stream, pinned, n);
  device_.synchronize();
  std::copy_n(pinned, n, to);
}

}  // namespace millrace
