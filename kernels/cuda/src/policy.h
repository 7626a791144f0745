// A policy on a device, as the C ABI sees it: a Trainer of either format.
#pragma once

#include <memory>
#include <string>

#include "device.h"
#include "gemm.h"
#include "head.h"
#include "kernels.h"
#include "model.h"
#include "shape.h"
#include "weights.h"

namespace millrace {

// Precision is the format of weights and activations. Sums, moments, gradients of
// weights and logits are float32 in both. The values are part of the ABI.
enum class Precision : int32_t { fp32 = 0, bf16 = 1 };

// HostPack is a micro-batch in host memory: sequence b is tokens[starts[b] .. starts[b+1]).
struct HostPack {
  const int32_t* tokens;
  const int32_t* starts;  // [sequences+1]
  int64_t sequences;
  const Target* targets;
  int64_t n_targets;
  Outcome* outcomes;  // [n_targets], written
};

// Used is what a pass took.
struct Used {
  Recompute recompute;
  size_t bytes;  // of device memory, besides weights and optimizer
};

class Policy {
 public:
  virtual ~Policy() = default;

  virtual void write(Kind kind, const std::string& name, const float* host, int64_t n) = 0;
  virtual void read(Kind kind, const std::string& name, float* host, int64_t n) = 0;
  // restart drops the gradients, and makes step the number of steps taken. At step 0 the
  // moments are zero.
  virtual void restart(int64_t step) = 0;
  virtual int64_t steps() const = 0;

  // accumulate runs forward, loss and backward, and adds to the gradients. If it throws
  // invalid or out_of_memory, nothing was added.
  virtual Used accumulate(const HostPack& pack, const LossSettings& loss) = 0;
  virtual Used log_probs(const HostPack& pack, double temperature) = 0;
  // step applies AdamW and clears the gradients. It does nothing but the latter if the
  // norm, or an outcome since the last step, was not finite.
  virtual GradientNorm step(const AdamStep& settings) = 0;

  // publish makes the weights of the last step the ones that are sampled from. Steps write
  // elsewhere from then on, until the next publish. Whoever samples must have taken the new
  // address before the step after the next publish.
  virtual void publish(int64_t version) = 0;
  virtual int64_t version() const = 0;
  // sampled is the published weights in the policy's format, laid out as layout says;
  // null before the first publish.
  virtual const void* sampled() const = 0;
  virtual const Layout& layout() const = 0;

  // attention names the implementation; why_not is why it is not a better one.
  virtual const char* attention() const = 0;
  virtual const std::string& why_not() const = 0;

  const Shape shape;
  const Precision precision;

 protected:
  Policy(const Shape& shape, Precision precision) : shape(shape), precision(precision) {}
};

std::unique_ptr<Policy> make_policy(const Device& device, Gemm& gemm, const Shape& shape, Precision precision,
                                    Recompute recompute);

}  // namespace millrace
