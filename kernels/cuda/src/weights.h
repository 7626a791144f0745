// The parameters of a policy on the device: one arena a kind (weights, their
// lower bits, gradients, moments), all of one layout.
//
// Matrices lie before norm weights, so weight decay, which is for matrices alone,
// takes two launches of the optimizer. Query, key and value projections lie end to
// end and are one matrix [(H+2K)D, C]; so are gate and up. A part begins at a
// multiple of Layout::alignment values; what lies between two parts is zero and stays
// zero, because its gradient is.
//
// There may be two buffers of weights. Generation samples from the published one, and
// nothing writes to it until another is published.
#pragma once

#include <string>
#include <vector>

#include "device.h"
#include "kernels.h"
#include "number.h"
#include "shape.h"

namespace millrace {

class Layout {
 public:
  explicit Layout(const Shape& shape);

  static constexpr size_t alignment = 128;  // values: whole cache lines in each format

  // Tensor is one parameter by its Hugging Face name.
  struct Tensor {
    std::string name;
    size_t at, n;
  };
  struct Layer {
    size_t input_norm, qkv, q_norm, k_norm, out, post_norm, gate_up, down;
  };

  // find throws Status::invalid if there is no such tensor, or not of n values.
  const Tensor& find(const std::string& name, int64_t n) const;

  std::vector<Tensor> tensors;
  std::vector<Layer> layers;
  size_t embedding = 0, head = 0, norm = 0;  // head is embedding if tied
  size_t matrices = 0;                       // values before the first norm weight
  size_t size = 0;

 private:
  size_t add(const std::string& name, int64_t n);
  void align();
};

// Kind is which number of a parameter is meant. The values are part of the ABI.
enum class Kind : int32_t { weight = 0, exp_avg = 1, exp_avg_sq = 2, gradient = 3 };

// Weights belong to one policy. Gradients and moments take memory from prepare_training
// on: a policy that is only asked for log-probabilities has none.
template <class T>
class Weights {
 public:
  Weights(const Device& device, const Shape& shape);

  // write and read move one tensor between host and device, as float32. A weight in
  // bf16 keeps all 32 bits. write leaves the published buffer alone.
  void write(Kind kind, const std::string& name, const float* host, int64_t n);
  void read(Kind kind, const std::string& name, float* host, int64_t n);

  void prepare_training();
  void clear_gradients();
  // clear_optimizer sets moments and gradients to zero.
  void clear_optimizer();
  // step applies AdamW to the gradients and clears them. The result is finite or nothing
  // but the gradients changed. step waits for the device.
  GradientNorm step(const AdamStep& settings);

  // publish makes the current weights the ones that are sampled from.
  void publish(int64_t version);
  // sampled is null before the first publish.
  const T* sampled() const { return sampled_ < 0 ? nullptr : buffer_[sampled_].data(); }
  int64_t version() const { return version_; }

  const T* current() const { return buffer_[current_].data(); }
  float* gradient() const { return gradient_.data(); }

  const Layout layout;

 private:
  float* arena(Kind kind) const;
  void detach();

  const Device& device_;
  Buffer<T> buffer_[2];
  Buffer<uint16_t> remainder_;  // bf16 only
  Buffer<float> gradient_, exp_avg_, exp_avg_sq_, staging_;
  Buffer<double> norm_scratch_;
  Buffer<GradientNorm> norm_;
  int current_ = 0, sampled_ = -1;
  int64_t version_ = 0;
};

}  // namespace millrace
