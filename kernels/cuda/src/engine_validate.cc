// What a tick must be, so that no kernel reads or writes outside of an array.
#include <algorithm>

#include "paged_engine.h"

namespace millrace {

namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(Status::invalid, "a tick: " + text); }

void within(int64_t value, int64_t low, int64_t high, const std::string& what) {
  if (value >= low && value <= high) return;
  refuse(what + " is " + std::to_string(value) + ", want " + std::to_string(low) + " to " + std::to_string(high));
}
void within(int64_t value, int64_t low, int64_t high, const char* what, int64_t at) {
  if (value < low || value > high) within(value, low, high, std::string(what) + " " + std::to_string(at));
}

}  // namespace

template <class T>
void PagedEngine<T>::validate(const Policy& policy, const HostTick& tick) const {
  const Shape& p = policy.shape;
  if (policy.precision != (sizeof(T) == sizeof(float) ? Precision::fp32 : Precision::bf16) || p.V != shape_.V ||
      p.C != shape_.C || p.I != shape_.I || p.L != shape_.L || p.H != shape_.H || p.K != shape_.K || p.D != shape_.D ||
      p.tied != shape_.tied) {
    refuse("the policy has another shape or precision than the engine");
  }
  if (!policy.sampled()) refuse("no weights are published");
  within(tick.sequences, 1, sequences_, "the number of sequences");
  within(tick.samples, 0, tick.sequences, "the number of samples");
  within(tick.starts[0], 0, 0, "start", 0);
  const int64_t most_pages = (shape_.max_positions + page_tokens - 1) / page_tokens;
  within(tick.table_stride, 1, most_pages, "the page table's stride");
  for (int64_t b = 0; b < tick.sequences; b++) {
    const int64_t n = int64_t{tick.starts[b + 1]} - tick.starts[b];
    within(n, 1, rows_ - tick.starts[b], "the number of rows of sequence", b);
    within(tick.lengths[b], n, std::min<int64_t>(shape_.max_positions, tick.table_stride * page_tokens), "length", b);
    for (int64_t i = 0; i * page_tokens < tick.lengths[b]; i++) {
      within(tick.page_table[b * tick.table_stride + i], 0, pages_ - 1, "a page of sequence", b);
    }
  }
  const int64_t rows = tick.starts[tick.sequences];
  for (int64_t r = 0; r < rows; r++) within(tick.tokens[r], 0, shape_.V - 1, "token", r);
  for (int64_t i = 0; i < tick.samples; i++) within(tick.sampled_rows[i], 0, rows - 1, "sampled row", i);
}

template void PagedEngine<float>::validate(const Policy&, const HostTick&) const;
template void PagedEngine<bf16>::validate(const Policy&, const HostTick&) const;

}  // namespace millrace
