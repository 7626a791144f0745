#include "weights.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "masters.h"

namespace millrace {

namespace {

// Weights cross the bus in pieces of this many values: 64 MiB.
constexpr size_t staged = 16 << 20;

}  // namespace

template <class T>
Weights<T>::Weights(const Device& device, const Shape& shape) : layout(shape), device_(device) {
  buffer_[0] = Buffer<T>(device, layout.size, "weights");
  buffer_[0].clear(device.stream);
  if (std::is_same_v<T, bf16>) {
    remainder_ = Buffer<uint16_t>(device, layout.size, "the weights' lower bits");
    remainder_.clear(device.stream);
  }
  size_t longest = 0;
  for (const Layout::Tensor& t : layout.tensors) longest = std::max(longest, t.n);
  staging_ = Buffer<float>(device, std::min(longest, staged), "copying weights");
}

template <class T>
float* Weights<T>::arena(Kind kind) const {
  switch (kind) {
    case Kind::exp_avg: return exp_avg_.data();
    case Kind::exp_avg_sq: return exp_avg_sq_.data();
    case Kind::gradient: return gradient_.data();
    case Kind::weight: break;
  }
  throw Error(Status::invalid, "there is no kind " + std::to_string(static_cast<int>(kind)) + " of a parameter");
}

// detach moves the current weights out of the published buffer.
template <class T>
void Weights<T>::detach() {
  if (sampled_ != current_) return;
  const int other = 1 - current_;
  check(cudaMemcpyAsync(buffer_[other].data(), buffer_[current_].data(), layout.size * sizeof(T), cudaMemcpyDeviceToDevice,
                        device_.stream),
        "copying the published weights");
  current_ = other;
}

template <class T>
void Weights<T>::write(Kind kind, const std::string& name, const float* host, int64_t n) {
  const Layout::Tensor& t = layout.find(name, n);
  if (kind != Kind::weight) {
    prepare_training();
    check(cudaMemcpyAsync(arena(kind) + t.at, host, t.n * sizeof(float), cudaMemcpyHostToDevice, device_.stream), name.c_str());
    device_.synchronize();
    return;
  }
  detach();
  T* weight = buffer_[current_].data() + t.at;
  uint16_t* remainder = remainder_.data() ? remainder_.data() + t.at : nullptr;
  for (size_t at = 0; at < t.n; at += staging_.size()) {
    const size_t part = std::min(staging_.size(), t.n - at);
    staging_.write(device_.stream, host + at, part);
    split(device_.stream, weight + at, remainder ? remainder + at : nullptr, staging_.data(), part);
  }
  device_.synchronize();
}

template <class T>
void Weights<T>::read(Kind kind, const std::string& name, float* host, int64_t n) {
  const Layout::Tensor& t = layout.find(name, n);
  if (kind != Kind::weight) {
    const float* values = arena(kind);
    if (!values) {  // nothing was trained yet
      std::fill(host, host + n, 0.0f);
      return;
    }
    check(cudaMemcpyAsync(host, values + t.at, t.n * sizeof(float), cudaMemcpyDeviceToHost, device_.stream), name.c_str());
    device_.synchronize();
    return;
  }
  const T* weight = current() + t.at;
  const uint16_t* remainder = remainder_.data() ? remainder_.data() + t.at : nullptr;
  for (size_t at = 0; at < t.n; at += staging_.size()) {
    const size_t part = std::min(staging_.size(), t.n - at);
    join(device_.stream, staging_.data(), weight + at, remainder ? remainder + at : nullptr, part);
    staging_.read(device_.stream, host + at, part);
  }
  device_.synchronize();
}

template <class T>
void Weights<T>::prepare_training() {
  if (norm_.data()) return;
  // All or nothing: what was made before one that does not fit goes again.
  Buffer<float> gradient(device_, layout.size, "gradients");
  Buffer<float> exp_avg(device_, layout.size, "AdamW's first moments");
  Buffer<float> exp_avg_sq(device_, layout.size, "AdamW's second moments");
  Buffer<double> scratch(device_, gradient_norm_scratch(layout.size), "the gradient's norm");
  Buffer<GradientNorm> norm(device_, 1, "the gradient's norm");
  gradient_ = std::move(gradient);
  exp_avg_ = std::move(exp_avg);
  exp_avg_sq_ = std::move(exp_avg_sq);
  norm_scratch_ = std::move(scratch);
  norm_ = std::move(norm);
  clear_optimizer();
}

template <class T>
void Weights<T>::clear_gradients() {
  gradient_.clear(device_.stream);
}

template <class T>
void Weights<T>::clear_optimizer() {
  clear_gradients();
  exp_avg_.clear(device_.stream);
  exp_avg_sq_.clear(device_.stream);
}

template <class T>
GradientNorm Weights<T>::step(const AdamStep& settings) {
  prepare_training();
  const int into = sampled_ == current_ ? 1 - current_ : current_;
  gradient_norm(device_.stream, norm_.data(), norm_scratch_.data(), gradient_.data(), layout.size, settings.clip_norm);
  auto update = [&](size_t at, size_t n, const AdamStep& s) {
    adamw(device_.stream, buffer_[into].data() + at, current() + at, remainder_.data() ? remainder_.data() + at : nullptr,
          exp_avg_.data() + at, exp_avg_sq_.data() + at, gradient_.data() + at, n, s, norm_.data());
  };
  update(0, layout.matrices, settings);
  AdamStep undecayed = settings;
  undecayed.weight_decay = 0;
  update(layout.matrices, layout.size - layout.matrices, undecayed);
  GradientNorm result;
  norm_.read(device_.stream, &result, 1);
  device_.synchronize();
  if (result.finite) current_ = into;
  return result;
}

template <class T>
void Weights<T>::publish(int64_t version) {
  if (!buffer_[1].data()) buffer_[1] = Buffer<T>(device_, layout.size, "the weights that are trained while others are sampled");
  sampled_ = current_;
  version_ = version;
}

template class Weights<float>;
template class Weights<bf16>;

}  // namespace millrace
