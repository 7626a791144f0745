// The training step of a policy.
#pragma once

#include <vector>

#include "policy.h"

namespace millrace {

// DevicePack is a HostPack on the device.
struct DevicePack {
  Batch batch;
  int32_t* rows;  // [n] of the targets
  Target* targets;
  Outcome* outcomes;
};

// HeadRows is what surrounds the head: the targets' rows, in their order.
template <class T>
struct HeadRows {
  T* stream;   // [n,C] residual stream
  T* branch;   // [n,C] its last summand, then the gradient by normed
  T* normed;   // [n,C], then the gradient by stream
  float* factor;
  float* sums;  // null for log-probabilities
};

template <class T>
class Trainer : public Policy {
 public:
  Trainer(const Device& device, Gemm& gemm, const Shape& shape, Recompute recompute);

  void write(Kind kind, const std::string& name, const float* host, int64_t n) override { weights_.write(kind, name, host, n); }
  void read(Kind kind, const std::string& name, float* host, int64_t n) override { weights_.read(kind, name, host, n); }
  void restart(int64_t step) override;
  int64_t steps() const override { return steps_; }
  Used accumulate(const HostPack& pack, const LossSettings& loss) override;
  Used log_probs(const HostPack& pack, double temperature) override;
  GradientNorm step(const AdamStep& settings) override;
  void publish(int64_t version) override { weights_.publish(version); }
  int64_t version() const override { return weights_.version(); }
  const void* sampled() const override { return weights_.sampled(); }
  const Layout& layout() const override { return weights_.layout; }
  const char* attention() const override { return model_.attention(); }
  const std::string& why_not() const override { return model_.refused(); }

 private:
  void validate(const HostPack& pack) const;
  DevicePack lay_pack(const HostPack& pack, bool backward);
  HeadRows<T> lay_head(int64_t n, bool backward);
  // loss is null for log-probabilities.
  size_t count(const HostPack& pack, Recompute recompute, const LossSettings* loss);
  Used reserve(const HostPack& pack, const LossSettings* loss);
  void upload(DevicePack& on_device, const HostPack& pack, bool backward);
  int32_t list_occurrences(const HostPack& pack);
  void gather_head(const HeadRows<T>& rows, const Activations<T>& a, const DevicePack& pack, int64_t n);
  void finish(const HostPack& pack, const DevicePack& on_device);

  const Device& device_;
  Weights<T> weights_;
  Model<T> model_;
  Head<T> head_;
  const Recompute recompute_;
  Arena arena_;
  size_t reserved_ = 0;
  int64_t steps_ = 0;
  bool not_finite_ = false;  // an outcome since the last step

  // Host memory that copies to the device read.
  std::vector<int32_t> positions_, unique_, offset_, order_, rows_;
};

}  // namespace millrace
