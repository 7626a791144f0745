#include "paged_engine.h"

#include <algorithm>

namespace millrace {

namespace {

// What is left of the free memory is the learner's: gradients, moments and activations
// come after the engine.
constexpr size_t share_of_free = 4;

// Below this bound lengths are not told apart: parts that a sequence does not have cost
// their blocks' start alone.
constexpr int64_t least_bound = 512;

int64_t power_of_two(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

int64_t pages_of(int64_t positions) { return (positions + page_tokens - 1) / page_tokens; }

int64_t pages_for(const Device& device, const EngineLimits& limits, size_t page_bytes) {
  const size_t bytes = limits.cache_bytes ? limits.cache_bytes : device.free_bytes() / share_of_free;
  // One page more is the padding's.
  const int64_t fit = static_cast<int64_t>(bytes / page_bytes) - 1;
  if (fit < 1) {
    throw Error(Status::out_of_memory, "the cache of keys and values has " + std::to_string(bytes) +
                                           " bytes, and two of its pages take " + std::to_string(2 * page_bytes));
  }
  return std::min(limits.pages, fit);
}

}  // namespace

template <class T>
PagedEngine<T>::PagedEngine(const Device& device, Gemm& gemm, const Shape& shape, const EngineLimits& limits)
    : device_(device),
      gemm_(gemm),
      shape_(shape),
      rows_(std::max(limits.rows, power_of_two(limits.sequences))),
      sequences_(power_of_two(limits.sequences)),
      page_values_(2 * shape.K * page_tokens * shape.D),
      rope_(device, shape),
      arena_(device, "a tick of generation (fewer sequences or prompt tokens at a time take less)"),
      values_(lay()),
      room_(device, {rows_, sequences_, sequences_, pages_of(shape.max_positions)}),
      pages_(pages_for(device, limits, shape.L * page_values_ * sizeof(T))),
      cache_(device, shape.L * (pages_ + 1) * page_values_, "the cache of keys and values (a smaller one holds fewer sequences)") {}

template <class T>
EngineValues<T> PagedEngine<T>::lay() {
  const size_t R = rows_, S = sequences_, C = shape_.C;
  auto take = [&] {
    EngineValues<T> v;
    v.stream = arena_.take<T>(R * C);
    v.branch = arena_.take<T>(R * C);
    v.normed = arena_.take<T>(R * C);
    v.qkv = arena_.take<T>(R * shape_.qkv());
    v.qk = arena_.take<T>(R * (shape_.H + shape_.K) * shape_.D);
    v.out = arena_.take<T>(R * shape_.H * shape_.D);
    v.gate_up = arena_.take<T>(R * 2 * shape_.I);
    v.act = arena_.take<T>(R * shape_.I);
    v.last = arena_.take<T>(S * C);
    v.last_branch = arena_.take<T>(S * C);
    v.last_normed = arena_.take<T>(S * C);
    v.logits = arena_.take<float>(S * shape_.V);
    v.sampler = arena_.take<char>(sampler_scratch(S, shape_.V));
    return v;
  };
  arena_.count();
  take();
  arena_.reserve(arena_.peak());
  return take();
}

template <class T>
void PagedEngine<T>::prepare(const PagedRows& rows) {
  bool moved = rope_.prepare(rows.longest);
  const size_t floats = paged_attention_scratch(rows, shape_);
  if (floats > scratch_.size()) {
    // The old memory goes first: both may not fit.
    scratch_ = Buffer<float>();
    moved = true;
  }
  if (moved) graphs_.clear();
  if (floats > scratch_.size()) {
    scratch_ = Buffer<float>(device_, floats, "attention to long sequences (fewer sequences at a time take less)");
  }
}

// forward ends with the residual stream as two summands, stream and branch.
template <class T>
void PagedEngine<T>::forward(const T* w, const Layout& layout, const DeviceTick& at, const PagedRows& rows) {
  const EngineValues<T>& v = values_;
  const int64_t R = rows.rows, C = shape_.C, I = shape_.I, HD = shape_.H * shape_.D, W = shape_.qkv();
  const int64_t QK = (shape_.H + shape_.K) * shape_.D;
  float* no_factor = nullptr;
  embed(device_.stream, v.stream, w + layout.embedding, at.tokens, R, C);
  rms_norm(device_.stream, v.normed, no_factor, v.stream, w + layout.layers[0].input_norm, R, C, shape_.eps);
  for (int64_t i = 0; i < shape_.L; i++) {
    const Layout::Layer& l = layout.layers[i];
    gemm_.forward(v.qkv, W, v.normed, C, w + l.qkv, R, W, C);
    qk_norm_rope(device_.stream, v.qk, no_factor, v.qkv, w + l.q_norm, w + l.k_norm, at.positions, rope_.table(), R, shape_);
    write_cache<T>(device_.stream, cache(i), {v.qk + HD, QK}, {v.qkv + QK, W}, at.positions, rows, shape_);
    paged_attention<T>(device_.stream, {v.out, HD}, scratch_.data(), {v.qk, QK}, cache(i), rows, shape_);
    gemm_.forward(v.branch, C, v.out, HD, w + l.out, R, C, HD);
    add_rms_norm(device_.stream, v.stream, v.normed, no_factor, v.stream, v.branch, w + l.post_norm, R, C, shape_.eps);
    gemm_.forward(v.gate_up, 2 * I, v.normed, C, w + l.gate_up, R, 2 * I, C);
    swiglu(device_.stream, v.act, v.gate_up, R, I);
    gemm_.forward(v.branch, C, v.act, I, w + l.down, R, C, I);
    if (i + 1 < shape_.L) {
      add_rms_norm(device_.stream, v.stream, v.normed, no_factor, v.stream, v.branch, w + layout.layers[i + 1].input_norm, R,
                   C, shape_.eps);
    }
  }
}

template <class T>
void PagedEngine<T>::sample_rows(const T* w, const Layout& layout, const DeviceTick& at, int64_t n) {
  const EngineValues<T>& v = values_;
  const int64_t C = shape_.C, V = shape_.V;
  float* no_factor = nullptr;
  if (n == 0) return;
  gather(device_.stream, v.last, v.stream, at.sampled_rows, n, C);
  gather(device_.stream, v.last_branch, v.branch, at.sampled_rows, n, C);
  add_rms_norm(device_.stream, v.last, v.last_normed, no_factor, v.last, v.last_branch, w + layout.norm, n, C, shape_.eps);
  gemm_.forward(v.logits, V, v.last_normed, C, w + layout.head, n, V, C);
  sample(device_.stream, room_.sampled(), v.logits, at.samplings, n, V, v.sampler);
}

template <class T>
void PagedEngine<T>::tick(const Policy& policy, const HostTick& tick) {
  validate(policy, tick);
  const T* weights = static_cast<const T*>(policy.sampled());
  const Layout& layout = policy.layout();
  const int64_t n = tick.starts[tick.sequences];
  const bool decodes = n == tick.sequences && n == tick.samples;
  const int64_t longest = *std::max_element(tick.lengths, tick.lengths + tick.sequences);
  const int64_t bound = std::min(shape_.max_positions, std::max(least_bound, power_of_two(longest)));

  TickSizes sizes = {n, tick.sequences, tick.samples, pages_of(bound)};
  if (decodes) sizes.rows = sizes.sequences = sizes.samples = power_of_two(n);
  PagedRows rows = {};
  rows.sequences = sizes.sequences;
  rows.rows = sizes.rows;
  rows.table_stride = sizes.stride;
  rows.longest = bound;
  rows.most_rows = 1;
  for (int64_t b = 0; b < tick.sequences; b++) rows.most_rows = std::max(rows.most_rows, tick.starts[b + 1] - tick.starts[b]);
  prepare(rows);

  const DeviceTick at = room_.upload(tick, sizes, pages_);
  rows.row_start = at.starts;
  rows.length = at.lengths;
  rows.page_table = at.page_table;
  auto run = [&] {
    forward(weights, layout, at, rows);
    sample_rows(weights, layout, at, sizes.samples);
  };
  if (decodes) {
    graphs_.run(device_.stream, {weights, sizes.sequences, bound}, run);
  } else {
    run();
  }
  room_.download(tick.sampled, tick.samples);
}

template class PagedEngine<float>;
template class PagedEngine<bf16>;

std::unique_ptr<Engine> make_engine(const Device& device, Gemm& gemm, const Shape& shape, Precision precision,
                                    const EngineLimits& limits) {
  for (int64_t n : {limits.rows, limits.sequences, limits.pages}) {
    if (n < 1 || n > INT32_MAX / 2) throw Error(Status::invalid, "a limit of the engine is " + std::to_string(n));
  }
  if (precision == Precision::bf16) return std::make_unique<PagedEngine<bf16>>(device, gemm, shape, limits);
  return std::make_unique<PagedEngine<float>>(device, gemm, shape, limits);
}

}  // namespace millrace
