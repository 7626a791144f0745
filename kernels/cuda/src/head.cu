#include "head.h"

#include <algorithm>

#include "head_rows.h"

namespace millrace {
namespace {

// A product is made of tiles of rows, so a chunk is whole tiles.
constexpr int64_t row_tile = 128;

// stride_of is V rounded up to 16 bytes of logits, so that every row may be read by
// whole loads.
int64_t stride_of(int64_t V) { return (V + 3) / 4 * 4; }

// Taken is what a call takes of an arena; it gives it back however the call ends.
class Taken {
 public:
  explicit Taken(Arena& arena) : arena_(arena), mark_(arena.mark()) {}
  ~Taken() { arena_.release(mark_); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

 private:
  Arena& arena_;
  const size_t mark_;
};

}  // namespace

template <class T>
Head<T>::Head(const Device& device, Gemm& gemm, const Shape& shape, size_t logits_bytes)
    : device_(device), gemm_(gemm), shape_(shape), logits_bytes_(logits_bytes) {}

template <class T>
int64_t Head<T>::chunk() const {
  const int64_t rows = logits_bytes_ / (stride_of(shape_.V) * sizeof(float));
  return rows >= row_tile ? rows / row_tile * row_tile : std::max<int64_t>(rows, 1);
}

// each_chunk makes the logits of the targets, a chunk at a time, and calls body with
// the chunk and the number of targets before it.
template <class T>
template <class Body>
void Head<T>::each_chunk(float* logits, Outcome* outcome, const T* hidden, const T* weight, const Target* targets,
                         int64_t n, Body body) {
  const int64_t V = shape_.V, C = shape_.C, stride = stride_of(V), most = chunk();
  for (int64_t at = 0; at < n; at += most) {
    const int64_t rows = std::min(most, n - at);
    gemm_.template forward<T, float>(logits, stride, hidden + at * C, C, weight, rows, V, C);
    body(HeadChunk{logits, rows, V, stride, targets + at, outcome + at}, at);
  }
}

template <class T>
void Head<T>::log_probs(Outcome* outcome, const T* hidden, const T* weight, const Target* targets, int64_t n,
                        double temperature, Arena& arena) {
  const Taken taken(arena);
  float* logits = arena.take<float>(std::min(n, chunk()) * stride_of(shape_.V));
  if (!logits) return;
  each_chunk(logits, outcome, hidden, weight, targets, n,
             [&](const HeadChunk& part, int64_t) { log_prob_rows(device_, part, temperature); });
}

template <class T>
void Head<T>::train(Outcome* outcome, T* dhidden, float* dweight, const T* hidden, const T* weight,
                    const Target* targets, int64_t n, int32_t n_sequences, const LossSettings& loss, Arena& arena) {
  const int64_t V = shape_.V, C = shape_.C, rows = std::min(n, chunk());
  const Taken taken(arena);
  float* logits = arena.take<float>(rows * stride_of(V));
  T* inputs = arena.take<T>(rows * C);
  double* ratio = loss.sequence_ratio ? arena.take<double>(n_sequences) : nullptr;
  if (!logits) return;
  if (loss.sequence_ratio && n > 0) {
    // A token's gradient needs the log-probabilities of all its sequence.
    each_chunk(logits, outcome, hidden, weight, targets, n,
               [&](const HeadChunk& part, int64_t) { log_prob_rows(device_, part, loss.temperature); });
    sequence_ratios(device_, ratio, outcome, targets, n);
  }
  each_chunk(logits, outcome, hidden, weight, targets, n, [&](const HeadChunk& part, int64_t at) {
    differentiate_rows(device_, part, loss, ratio, inputs, hidden + at * C, C);
    const T* dlogits = reinterpret_cast<const T*>(part.logits);
    const int64_t stride = gradient_stride<T>(part);
    gemm_.weight_gradient(dweight, dlogits, stride, inputs, C, part.rows, V, C);
    gemm_.input_gradient(dhidden + at * C, C, dlogits, stride, weight, part.rows, V, C, false);
  });
}

template class Head<float>;
template class Head<bf16>;

}  // namespace millrace
