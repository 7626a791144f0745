// Plans of cuDNN for attention over a ragged pack, made through the cudnn-frontend
// headers. Only cudnn_plan.cc includes those.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "error.h"

namespace millrace {

// Cudnn is the library, opened at run time, and a handle on a stream.
class Cudnn {
 public:
  // Throws Status::unavailable if a library is missing or too old.
  explicit Cudnn(cudaStream_t stream);
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  std::string version() const;  // "9.19.0"
  void* handle() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Slot names a matrix, and the array that goes with it, in what a plan is given.
// The first most_matrices have an offset array (see ragged.h) in their order.
enum Slot : int64_t {
  slot_q,
  slot_k,
  slot_v,
  slot_out,
  slot_lse,
  slot_dout,
  slot_dq,
  slot_dkv,  // dk and dv lie alike
  slot_dk,
  slot_dv,
  slot_lengths,
  slot_offsets = 100  // slot_offsets + slot_q are the offsets of q
};
using Arguments = std::unordered_map<int64_t, void*>;

// Problem is what a plan is made for. Strides are from row to row, in values; lse is
// [T,H].
struct Problem {
  int64_t sequences, longest, tokens;
  int64_t H, K, D;
  int64_t q, k, v, out;
  int64_t dout, dq, dkv;  // 0 in a forward plan
  int64_t deterministic;  // 0 or 1; a forward plan always is
  int64_t capability;

  bool backward() const { return dout != 0; }
  auto fields() const;
  bool operator<(const Problem& other) const;
};

// Plan runs one Problem. Making it takes tens to hundreds of milliseconds.
class Plan {
 public:
  // Throws Status::unavailable with cuDNN's reason if it has no kernel for the problem.
  Plan(const Cudnn& cudnn, const Problem& problem);
  ~Plan();
  Plan(Plan&&) noexcept;

  size_t workspace() const { return workspace_; }  // bytes
  void run(Arguments& arguments, void* workspace) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  size_t workspace_ = 0;
};

}  // namespace millrace
