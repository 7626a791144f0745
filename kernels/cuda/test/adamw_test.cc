#include "check.h"
#include "kernels.h"
#include "master.h"

namespace millrace::test {
namespace {

const std::vector<size_t> sizes = {1, 4, 7, 1000, 1027};

AdamStep step_number(int64_t step) { return {3e-3, 0.9, 0.95, 1e-8, 0.1, 1, step}; }

// Twin is the optimizer in float64.
struct Twin {
  std::vector<double> weight, m, v;

  explicit Twin(const std::vector<float>& weights) : weight(doubles(weights)), m(weights.size()), v(weights.size()) {}

  void step(const std::vector<float>& gradient, double scale, const AdamStep& s) {
    for (size_t i = 0; i < weight.size(); i++) {
      const double g = gradient[i] * scale;
      m[i] += (1 - s.beta1) * (g - m[i]);
      v[i] += (1 - s.beta2) * (g * g - v[i]);
      const double mean = m[i] / (1 - std::pow(s.beta1, s.step)), square = v[i] / (1 - std::pow(s.beta2, s.step));
      weight[i] *= 1 - s.learning_rate * s.weight_decay;
      weight[i] -= s.learning_rate * mean / (std::sqrt(square) + s.epsilon);
    }
  }
};

// Policy is the optimizer's arrays of format T.
template <class T>
struct Policy {
  OnDevice<T> weight;
  OnDevice<uint16_t> remainder;
  OnDevice<float> m, v, gradient;

  explicit Policy(const std::vector<float>& masters)
      : weight(weights(masters)), remainder(remainders(masters)), m(std::vector<float>(masters.size())),
        v(std::vector<float>(masters.size())), gradient(std::vector<float>(masters.size())) {}

  static std::vector<T> weights(const std::vector<float>& masters) {
    std::vector<T> result;
    for (float x : masters) {
      if constexpr (sizeof(T) == 2) result.push_back(split_master(x).weight);
      else result.push_back(x);
    }
    return result;
  }
  static std::vector<uint16_t> remainders(const std::vector<float>& masters) {
    std::vector<uint16_t> result;
    for (float x : masters) result.push_back(split_master(x).remainder);
    return result;
  }

  void set_gradient(const std::vector<float>& values) {
    const size_t bytes = values.size() * sizeof(float);
    check(cudaMemcpyAsync(gradient, values.data(), bytes, cudaMemcpyHostToDevice, device().stream),
          "copying the gradient");
    device().synchronize();
  }
  void step(T* written, const AdamStep& s, const GradientNorm* norm) {
    uint16_t* lower = sizeof(T) == 2 ? remainder.data() : nullptr;
    adamw<T>(device().stream, written, weight, lower, m, v, gradient, weight.size(), s, norm);
  }
  std::vector<float> masters(const std::vector<T>& weights) const {
    const auto rest = remainder.host();
    std::vector<float> result;
    for (size_t i = 0; i < weights.size(); i++) {
      if constexpr (sizeof(T) == 2) result.push_back(join_master(weights[i], rest[i]));
      else result.push_back(weights[i]);
    }
    return result;
  }
};

// all_zero demands zero bits.
void all_zero(const std::vector<float>& values, const char* what) {
  equal(values, std::vector<float>(values.size()), what);
}

template <class T>
void check_steps() {
  Random random = fresh();
  for (const size_t n : sizes) {
    const auto start = random.normals<float>(n, 0.1);
    Policy<T> policy(start);
    Twin twin(start);
    for (int64_t step = 1; step <= 10; step++) {
      const auto gradient = random.normals<float>(n, 0.01);
      const float scale = step % 2 ? 1.0f : 0.25f;
      const OnDevice<GradientNorm> norm(std::vector<GradientNorm>{{1, scale, 1}});
      policy.set_gradient(gradient);
      policy.step(policy.weight, step_number(step), norm);
      twin.step(gradient, scale, step_number(step));
      all_zero(policy.gradient.host(), "gradient");
    }
    near(policy.masters(policy.weight.host()), twin.weight, 3e-6, "weight", 0.1);
    near(policy.m.host(), twin.m, 1e-6, "m", 0.01);
    near(policy.v.host(), twin.v, 1e-6, "v", 1e-4);
  }
}

TEST(adamw_ten_steps_float) { check_steps<float>(); }
TEST(adamw_ten_steps_bf16) { check_steps<bf16>(); }

// The float32 values of both formats take the same bits, and the bf16 weights are their
// nearest.
TEST(adamw_masters_of_bf16_are_weights_of_float) {
  Random random = fresh();
  constexpr size_t n = 1027;
  const auto start = random.normals<float>(n, 0.1);
  Policy<float> exact(start);
  Policy<bf16> rounded(start);
  const OnDevice<GradientNorm> norm(std::vector<GradientNorm>{{1, 1, 1}});
  for (int64_t step = 1; step <= 20; step++) {
    const auto gradient = random.normals<float>(n);
    exact.set_gradient(gradient), rounded.set_gradient(gradient);
    exact.step(exact.weight, step_number(step), norm), rounded.step(rounded.weight, step_number(step), norm);
  }
  const auto masters = rounded.masters(rounded.weight.host());
  equal(masters, exact.weight.host(), "masters");
  near(rounded.weight.host(), doubles(masters), unit<bf16>, "weights", 0);
}

template <class T>
void check_other_buffer() {
  Random random = fresh();
  for (const size_t n : sizes) {
    const auto start = random.normals<float>(n), gradient = random.normals<float>(n);
    Policy<T> here(start), there(start);
    auto written = poisoned<T>(n);
    const OnDevice<GradientNorm> norm(std::vector<GradientNorm>{{1, 0.5f, 1}});
    here.set_gradient(gradient), there.set_gradient(gradient);
    here.step(here.weight, step_number(1), norm);
    there.step(written, step_number(1), norm);
    equal(written.host(), here.weight.host(), "weights in another buffer");
    equal(there.weight.host(), Policy<T>::weights(start), "weights read");
    equal(there.masters(written.host()), here.masters(here.weight.host()), "masters");
  }
}

TEST(adamw_writes_another_buffer_float) { check_other_buffer<float>(); }
TEST(adamw_writes_another_buffer_bf16) { check_other_buffer<bf16>(); }

template <class T>
void check_not_finite() {
  Random random = fresh();
  for (const size_t n : sizes) {
    const auto start = random.normals<float>(n);
    auto gradient = random.normals<float>(n);
    gradient[n / 2] = std::nanf("");
    Policy<T> policy(start);
    auto written = poisoned<T>(n);
    const OnDevice<GradientNorm> norm(std::vector<GradientNorm>{{std::nan(""), 0, 0}});
    policy.set_gradient(gradient);
    policy.step(written, step_number(1), norm);
    equal(written.host(), Policy<T>::weights(start), "weights written");
    equal(policy.weight.host(), Policy<T>::weights(start), "weights");
    equal(policy.masters(written.host()), start, "masters");
    all_zero(policy.m.host(), "m");
    all_zero(policy.v.host(), "v");
    all_zero(policy.gradient.host(), "gradient");
  }
}

TEST(adamw_of_a_norm_that_is_not_finite_leaves_the_policy_float) { check_not_finite<float>(); }
TEST(adamw_of_a_norm_that_is_not_finite_leaves_the_policy_bf16) { check_not_finite<bf16>(); }

// Parts of larger arrays, at a start that is not aligned to 16 bytes, give the bits of
// the whole.
TEST(adamw_in_parts_is_adamw) {
  Random random = fresh();
  constexpr size_t n = 1027, first = 13;
  const auto start = random.normals<float>(n), gradient = random.normals<float>(n);
  Policy<bf16> whole(start), parts(start);
  const OnDevice<GradientNorm> norm(std::vector<GradientNorm>{{1, 1, 1}});
  whole.set_gradient(gradient), parts.set_gradient(gradient);
  whole.step(whole.weight, step_number(1), norm);
  for (const auto& [from, to] : std::vector<std::pair<size_t, size_t>>{{0, first}, {first, n}}) {
    adamw<bf16>(device().stream, parts.weight + from, parts.weight + from, parts.remainder + from, parts.m + from,
                parts.v + from, parts.gradient + from, to - from, step_number(1), norm);
  }
  equal(parts.weight.host(), whole.weight.host(), "weights");
  equal(parts.remainder.host(), whole.remainder.host(), "remainders");
  equal(parts.v.host(), whole.v.host(), "v");
}

}  // namespace
}  // namespace millrace::test
