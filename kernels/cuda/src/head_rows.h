// The kernels of the head between its matrix products: a row of logits is one
// target's, and one block's.
#pragma once

#include "head.h"

namespace millrace {

// HeadChunk is the rows whose logits are in memory. A row has stride floats: V and as
// many more as make the next row begin at 16 bytes.
struct HeadChunk {
  float* logits;  // [rows, stride]
  int64_t rows, V, stride;
  const Target* targets;
  Outcome* outcome;
};

// log_prob_rows sets log_prob, entropy and finite of each outcome, and clears the rest.
void log_prob_rows(const Device& device, const HeadChunk& chunk, double temperature);

// sequence_ratios sets ratio[s] to exp of the mean of difference_of over sequence s,
// from the outcomes' log_prob.
void sequence_ratios(const Device& device, double* ratio, const Outcome* outcome, const Target* targets, int64_t n);

// differentiate_rows sets each outcome and replaces each row of logits by the
// gradient of the loss by it, as T: row r's values begin where its logits began, so
// they are a matrix with gradient_stride values between rows. ratio [sequences] may be
// null without sequence_ratio.
//
// inputs [rows,C] becomes hidden, with rows of zeros where an outcome is not finite:
// such a row's gradient is 0, and 0 times a NaN of its hidden state would reach every
// row of the weight's gradient.
template <class T>
void differentiate_rows(const Device& device, const HeadChunk& chunk, const LossSettings& settings, const double* ratio,
                        T* inputs, const T* hidden, int64_t C);

template <class T>
int64_t gradient_stride(const HeadChunk& chunk) {
  return chunk.stride * static_cast<int64_t>(sizeof(float) / sizeof(T));
}

}  // namespace millrace
