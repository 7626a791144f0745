// The policy head: hidden states times the head's weight, log-probabilities, the
// loss of kernels/loss.go and its gradients, a chunk of rows at a time. The logits
// of a chunk are float32 and the only ones in memory; rows without a trained token
// never enter.
#pragma once

#include "device.h"
#include "gemm.h"
#include "number.h"
#include "shape.h"

namespace millrace {

// LossSettings mirror kernels.Loss in Go (kernels/loss.go has the formulas).
// The layout is part of the ABI.
struct LossSettings {
  int32_t supervised, sequence_ratio, clipped_weight, reserved;
  double clip_low, clip_high, dual_clip;
  double kl_coefficient, entropy_coefficient;
  double truncated_is;
  double temperature;  // positive
};

// Target is a trained token: predicted from row, which is the position before it.
// The layout is part of the ABI.
struct Target {
  int32_t row, token;
  int32_t sequence;        // counted from 0
  int32_t has_behaviour;   // 0: the ratio is 1
  float behaviour, reference;
  double advantage;
  double denominator;      // its loss is divided by this
};

// Outcome is what the head knows of a target afterwards. The layout is part of
// the ABI; Statistics of kernels/loss.go are sums of these.
struct Outcome {
  double log_prob, entropy, loss;  // loss before division
  double ratio, kl, difference;
  int32_t clipped, finite;         // finite is 0 if loss or gradient is NaN or infinite
};

// A target whose logits, loss or gradient are not finite has finite 0 and the gradient
// 0: it adds nothing to dweight, its row of dhidden is 0, and no other row sees it.
// Under sequence_ratio it makes the ratio of its sequence unknown, so all targets of
// that sequence are not finite.
//
// Tokens are in [0,V). While the arena counts, nothing is launched.
template <class T>
class Head {
 public:
  // logits_bytes bounds the logits in memory at a time.
  Head(const Device& device, Gemm& gemm, const Shape& shape, size_t logits_bytes = size_t{1} << 30);

  // log_probs sets log_prob, entropy and finite of every target's outcome, at a
  // temperature, and clears the rest; of targets only token is read. hidden is as in
  // train.
  void log_probs(Outcome* outcome, const T* hidden, const T* weight, const Target* targets, int64_t n,
                 double temperature, Arena& arena);
  // train: outcome of every target; dhidden [n,C] gets the gradient by hidden, dweight
  // [V,C] is added to. hidden [n,C] are the normed rows of the targets, in their
  // order (gathered by the caller); n_sequences is 1 + the largest sequence.
  // Targets of one sequence are contiguous. All pointers are on the device.
  void train(Outcome* outcome, T* dhidden, float* dweight, const T* hidden, const T* weight, const Target* targets,
             int64_t n, int32_t n_sequences, const LossSettings& loss, Arena& arena);

  // chunk is the rows whose logits are in memory at a time: as many as logits_bytes
  // hold, whole tiles of a product where that is one or more, and at least one.
  int64_t chunk() const;

 private:
  template <class Body>
  void each_chunk(float* logits, Outcome* outcome, const T* hidden, const T* weight, const Target* targets, int64_t n,
                  Body body);

  const Device& device_;
  Gemm& gemm_;
  const Shape shape_;
  const size_t logits_bytes_;
};

}  // namespace millrace
