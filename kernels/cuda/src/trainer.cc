#include "trainer.h"

#include <cmath>
#include <limits>

namespace millrace {

template <class T>
Trainer<T>::Trainer(const Device& device, Gemm& gemm, const Shape& shape, Recompute recompute)
    : Policy(shape, sizeof(T) == sizeof(float) ? Precision::fp32 : Precision::bf16),
      device_(device),
      weights_(device, shape),
      model_(device, gemm, shape, weights_.layout),
      head_(device, gemm, shape),
      recompute_(recompute),
      arena_(device, "activations (fewer tokens in a micro-batch take less: learn.micro_tokens)") {}

template <class T>
void Trainer<T>::restart(int64_t step) {
  if (step < 0) throw Error(Status::invalid, "the number of steps is " + std::to_string(step));
  steps_ = step;
  not_finite_ = false;
  if (step == 0) {
    weights_.clear_optimizer();
  } else {
    weights_.clear_gradients();
  }
}

// gather_head sums the residual stream of the targets' rows and applies the final norm.
template <class T>
void Trainer<T>::gather_head(const HeadRows<T>& h, const Activations<T>& a, const DevicePack& pack, int64_t n) {
  gather(device_.stream, h.stream, a.layers.back().mid, pack.rows, n, shape.C);
  gather(device_.stream, h.branch, a.branch, pack.rows, n, shape.C);
  add_rms_norm(device_.stream, h.stream, h.normed, h.factor, h.stream, h.branch, weights_.current() + weights_.layout.norm, n,
               shape.C, shape.eps);
}

// finish brings the outcomes back.
template <class T>
void Trainer<T>::finish(const HostPack& pack, const DevicePack& on_device) {
  check(cudaMemcpyAsync(pack.outcomes, on_device.outcomes, pack.n_targets * sizeof(Outcome), cudaMemcpyDeviceToHost,
                                  device_.stream),
                  "copying the outcomes");
  device_.synchronize();
}

template <class T>
Used Trainer<T>::accumulate(const HostPack& host, const LossSettings& loss) {
  validate(host);
  weights_.prepare_training();
  const Used used = reserve(host, &loss);
  DevicePack pack = lay_pack(host, true);
  upload(pack, host, true);

  const T* w = weights_.current();
  const Layout& layout = weights_.layout;
  const int64_t n = host.n_targets, C = shape.C;
  const Activations<T> a = model_.lay_forward(arena_, pack.batch.packed, used.recompute, true);
  model_.forward(a, w, pack.batch);

  T* stream = arena_.template take<T>(static_cast<size_t>(pack.batch.packed.tokens) * C);
  // The head's rows and logits lie where backward's scratch is afterwards.
  const size_t mark = arena_.mark();
  const HeadRows<T> h = lay_head(n, true);
  gather_head(h, a, pack, n);
  head_.train(pack.outcomes, h.branch, weights_.gradient() + layout.head, h.normed, w + layout.head, pack.targets, n,
              host.targets[n - 1].sequence + 1, loss, arena_);
  const T* nothing = nullptr;
  rms_norm_backward(device_.stream, h.normed, weights_.gradient() + layout.norm, h.sums, h.branch, nothing, h.stream,
                    w + layout.norm, h.factor, n, C);
  check(cudaMemsetAsync(stream, 0, pack.batch.packed.tokens * C * sizeof(T), device_.stream), "clearing the gradient");
  scatter_add(device_.stream, stream, h.normed, pack.rows, n, C);
  arena_.release(mark);

  const Scratch<T> s = model_.lay_backward(arena_, pack.batch.packed, stream);
  model_.backward(a, s, w, weights_.gradient(), pack.batch);
  finish(host, pack);
  for (int64_t i = 0; i < n; i++) not_finite_ |= !host.outcomes[i].finite;
  return used;
}

template <class T>
Used Trainer<T>::log_probs(const HostPack& host, double temperature) {
  validate(host);
  const Used used = reserve(host, nullptr);
  DevicePack pack = lay_pack(host, false);
  upload(pack, host, false);
  const T* w = weights_.current();
  const Activations<T> a = model_.lay_forward(arena_, pack.batch.packed, used.recompute, false);
  model_.forward(a, w, pack.batch);
  const HeadRows<T> h = lay_head(host.n_targets, false);
  gather_head(h, a, pack, host.n_targets);
  head_.log_probs(pack.outcomes, h.normed, w + weights_.layout.head, pack.targets, host.n_targets, temperature, arena_);
  finish(host, pack);
  return used;
}

template <class T>
GradientNorm Trainer<T>::step(const AdamStep& settings) {
  if (not_finite_) {
    weights_.clear_gradients();
    not_finite_ = false;
    return {std::numeric_limits<double>::quiet_NaN(), 0, 0};
  }
  AdamStep s = settings;
  s.step = steps_ + 1;
  const GradientNorm norm = weights_.step(s);
  if (norm.finite) steps_++;
  return norm;
}

template class Trainer<float>;
template class Trainer<bf16>;

std::unique_ptr<Policy> make_policy(const Device& device, Gemm& gemm, const Shape& shape, Precision precision,
                                    Recompute recompute) {
  if (precision == Precision::bf16) return std::make_unique<Trainer<bf16>>(device, gemm, shape, recompute);
  return std::make_unique<Trainer<float>>(device, gemm, shape, recompute);
}

}  // namespace millrace
