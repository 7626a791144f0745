// How a micro-batch comes to the device, and what it takes there.
#include <algorithm>
#include <numeric>

#include "trainer.h"

namespace millrace {

namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(Status::invalid, text); }

// place is the pack's sequences without addresses: enough to count memory.
Packed place(const HostPack& pack) {
  Packed p = {};
  p.host_starts.assign(pack.starts, pack.starts + pack.sequences + 1);
  p.sequences = static_cast<int32_t>(pack.sequences);
  p.tokens = p.host_starts.back();
  for (int64_t b = 0; b < pack.sequences; b++) p.longest = std::max(p.longest, pack.starts[b + 1] - pack.starts[b]);
  return p;
}

}  // namespace

// validate refuses what would read or write outside of an array.
template <class T>
void Trainer<T>::validate(const HostPack& pack) const {
  if (pack.sequences < 1 || pack.starts[0] != 0) refuse("a pack begins with a sequence at 0");
  for (int64_t b = 0; b < pack.sequences; b++) {
    const int64_t n = int64_t{pack.starts[b + 1]} - pack.starts[b];
    if (n < 1 || n > shape.max_positions) {
      refuse("sequence " + std::to_string(b) + " has " + std::to_string(n) + " tokens, want 1 to " + std::to_string(shape.max_positions));
    }
  }
  for (int64_t t = 0; t < pack.starts[pack.sequences]; t++) {
    if (pack.tokens[t] < 0 || pack.tokens[t] >= shape.V) {
      refuse("token " + std::to_string(t) + " of the pack is " + std::to_string(pack.tokens[t]) + ", the vocabulary has " +
             std::to_string(shape.V));
    }
  }
  if (pack.n_targets < 1) refuse("a pack has no target");
  for (int64_t i = 0, row = -1; i < pack.n_targets; row = pack.targets[i++].row) {
    const Target& t = pack.targets[i];
    if (t.sequence < 0 || t.sequence >= pack.sequences || t.row <= row || t.row < pack.starts[t.sequence] ||
        t.row >= pack.starts[t.sequence + 1] - 1 || t.token < 0 || t.token >= shape.V) {
      refuse("target " + std::to_string(i) + " is token " + std::to_string(t.token) + " behind row " + std::to_string(t.row) +
             " of sequence " + std::to_string(t.sequence) + ": targets are in the order of their rows, which have a successor");
    }
  }
}

template <class T>
DevicePack Trainer<T>::lay_pack(const HostPack& pack, bool backward) {
  DevicePack p;
  p.batch.packed = place(pack);
  const size_t tokens = p.batch.packed.tokens;
  p.batch.tokens = arena_.template take<int32_t>(tokens);
  p.batch.packed.positions = arena_.template take<int32_t>(tokens);
  p.batch.packed.starts = arena_.template take<int32_t>(pack.sequences + 1);
  p.rows = arena_.template take<int32_t>(pack.n_targets);
  p.targets = arena_.template take<Target>(pack.n_targets);
  p.outcomes = arena_.template take<Outcome>(pack.n_targets);
  if (backward) {
    p.batch.occurrences.unique = arena_.template take<int32_t>(tokens);
    p.batch.occurrences.offset = arena_.template take<int32_t>(tokens + 1);
    p.batch.occurrences.row = arena_.template take<int32_t>(tokens);
  }
  return p;
}

template <class T>
HeadRows<T> Trainer<T>::lay_head(int64_t n, bool backward) {
  HeadRows<T> h;
  h.stream = arena_.template take<T>(n * shape.C);
  h.branch = arena_.template take<T>(n * shape.C);
  h.normed = arena_.template take<T>(n * shape.C);
  h.factor = arena_.template take<float>(n);
  h.sums = backward ? arena_.template take<float>(rms_norm_scratch(n, shape.C)) : nullptr;
  return h;
}

// count is the bytes a pass takes from the arena, which it takes in the same order.
template <class T>
size_t Trainer<T>::count(const HostPack& pack, Recompute recompute, const LossSettings* loss) {
  const bool backward = loss;
  const int64_t n = pack.n_targets;
  arena_.count();
  const DevicePack p = lay_pack(pack, backward);
  model_.lay_forward(arena_, p.batch.packed, recompute, backward);
  if (backward) arena_.template take<T>(static_cast<size_t>(p.batch.packed.tokens) * shape.C);
  const size_t mark = arena_.mark();
  lay_head(n, backward);
  if (loss) {
    head_.train(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, n, pack.targets[n - 1].sequence + 1, *loss, arena_);
  } else {
    head_.log_probs(nullptr, nullptr, nullptr, nullptr, n, 1, arena_);
  }
  arena_.release(mark);
  if (backward) model_.lay_backward(arena_, p.batch.packed, nullptr);
  return arena_.peak();
}

// reserve makes room for a pass. A part of the device is left to the libraries'
// workspaces.
template <class T>
Used Trainer<T>::reserve(const HostPack& pack, const LossSettings* loss) {
  model_.prepare(place(pack).longest);
  const size_t kept = device_.total_bytes / 256;
  const size_t free = device_.free_bytes();
  const size_t available = reserved_ + (free > kept ? free - kept : 0);
  Recompute recompute = recompute_ == Recompute::automatic ? Recompute::none : recompute_;
  size_t bytes = count(pack, recompute, loss);
  while (loss && recompute_ == Recompute::automatic && recompute != Recompute::block && bytes > available) {
    recompute = static_cast<Recompute>(static_cast<int32_t>(recompute) + 1);
    bytes = count(pack, recompute, loss);
  }
  if (bytes > reserved_) reserved_ = 0;  // in case it throws
  arena_.reserve(bytes);
  reserved_ = std::max(reserved_, bytes);
  return {recompute, bytes};
}

// list_occurrences sorts the pack's rows by token and returns the number of tokens.
template <class T>
int32_t Trainer<T>::list_occurrences(const HostPack& pack) {
  const int32_t tokens = pack.starts[pack.sequences];
  order_.resize(tokens);
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](int32_t a, int32_t b) { return pack.tokens[a] < pack.tokens[b]; });
  unique_.clear();
  offset_.clear();
  for (int32_t i = 0; i < tokens; i++) {
    const int32_t token = pack.tokens[order_[i]];
    if (i > 0 && token == unique_.back()) continue;
    unique_.push_back(token);
    offset_.push_back(i);
  }
  offset_.push_back(tokens);
  return static_cast<int32_t>(unique_.size());
}

template <class T>
void Trainer<T>::upload(DevicePack& p, const HostPack& pack, bool backward) {
  const size_t tokens = p.batch.packed.tokens;
  auto send = [&](const void* to, const void* from, size_t bytes) {
    check(cudaMemcpyAsync(const_cast<void*>(to), from, bytes, cudaMemcpyHostToDevice, device_.stream), "copying the micro-batch");
  };
  auto send_numbers = [&](const int32_t* to, const int32_t* from, size_t n) { send(to, from, n * sizeof(int32_t)); };
  positions_.resize(tokens);
  for (int64_t b = 0; b < pack.sequences; b++) {
    std::iota(positions_.begin() + pack.starts[b], positions_.begin() + pack.starts[b + 1], 0);
  }
  rows_.resize(pack.n_targets);
  for (int64_t i = 0; i < pack.n_targets; i++) rows_[i] = pack.targets[i].row;

  send_numbers(p.batch.tokens, pack.tokens, tokens);
  send_numbers(p.batch.packed.positions, positions_.data(), tokens);
  send_numbers(p.batch.packed.starts, pack.starts, pack.sequences + 1);
  send_numbers(p.rows, rows_.data(), rows_.size());
  send(p.targets, pack.targets, pack.n_targets * sizeof(Target));
  if (!backward) return;
  p.batch.occurrences.count = list_occurrences(pack);
  send_numbers(p.batch.occurrences.unique, unique_.data(), unique_.size());
  send_numbers(p.batch.occurrences.offset, offset_.data(), offset_.size());
  send_numbers(p.batch.occurrences.row, order_.data(), tokens);
}

template class Trainer<float>;
template class Trainer<bf16>;

}  // namespace millrace
