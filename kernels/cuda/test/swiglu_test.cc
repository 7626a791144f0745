#include "check.h"
#include "kernels.h"
#include "rounding.h"

namespace millrace::test {
namespace {

struct Size {
  int64_t rows, I;
};

// Pieces of 16 bytes and of single values; parts of a block, and more than one block.
const std::vector<Size> sizes = {{1, 1}, {3, 24}, {5, 131}, {2, 520}, {3, 1064}};

std::string named(const char* what, Size size) {
  return std::string(what) + " of " + std::to_string(size.rows) + " x " + std::to_string(size.I);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// gates are normal numbers, and some at which the exponential or its inverse leaves
// the range of float.
template <class T>
std::vector<T> gates_and_ups(Random& random, Size size) {
  auto values = random.normals<T>(size.rows * 2 * size.I, 4);
  const std::vector<float> far = {0.0f, -0.0f, 88.0f, -88.0f, 104.0f, -104.0f, 1e4f, -1e4f, 3e38f, -3e38f};
  for (size_t i = 0; i < far.size() && size.I > 24; i++) {
    values[i] = from_float<T>(far[i]);
    values[size.I + i] = from_float<T>(0.5f);
  }
  return values;
}

// neighbours are the T before, at and after x: what a silu may be rounded to whose
// float error is two ulps or less.
template <class T>
std::vector<double> neighbours(double x);
template <>
std::vector<double> neighbours<bf16>(double x) {
  const double at = round_to<bf16>(x), ulp = std::ldexp(1.0, std::max(at == 0 ? -126 : std::ilogb(at), -126) - 7);
  return {at - ulp, at, at + ulp};
}
template <>
std::vector<double> neighbours<float>(double x) {
  return {x};
}

template <class T>
void check_forward() {
  Random random = fresh();
  for (const Size size : sizes) {
    const auto values = gates_and_ups<T>(random, size);
    const OnDevice<T> gate_up(values);
    auto out = poisoned<T>(size.rows * size.I);
    swiglu<T>(device().stream, out, gate_up, size.rows, size.I);
    const auto result = out.host();
    size_t exact = 0;
    for (size_t j = 0; j < result.size(); j++) {
      const size_t at = j / size.I * 2 * size.I + j % size.I;
      const double gate = to_float(values[at]), up = to_float(values[at + size.I]), a = to_float(result[j]);
      const double silu = gate * sigmoid(gate), expected = round_to<T>(round_to<T>(silu) * up);
      exact += a == expected;
      bool right = false;
      for (double s : neighbours<T>(silu)) {
        const double e = round_to<T>(s * up);
        right = right || std::fabs(a - e) <= (sizeof(T) == 2 ? 0 : 1e-6 * std::fabs(e) + 1e-37);
      }
      if (!right) return fail(named("out", size) + ": gate " + std::to_string(gate) + " gives " + std::to_string(a));
    }
    if (sizeof(T) == 2) expect(exact * 100 >= result.size() * 99, named("exact values", size));
  }
}

TEST(swiglu_float) { check_forward<float>(); }
TEST(swiglu_bf16) { check_forward<bf16>(); }

template <class T>
void check_backward() {
  Random random = fresh();
  for (const Size size : sizes) {
    const auto values = random.normals<T>(size.rows * 2 * size.I, 3), d = random.normals<T>(size.rows * size.I);
    std::vector<double> gate_expected, up_expected;
    for (size_t j = 0; j < d.size(); j++) {
      const size_t at = j / size.I * 2 * size.I + j % size.I;
      const double gate = to_float(values[at]), up = to_float(values[at + size.I]), s = sigmoid(gate);
      gate_expected.push_back(to_float(d[j]) * up * s * (1 + gate * (1 - s)));
      up_expected.push_back(to_float(d[j]) * gate * s);
    }
    const OnDevice<T> gate_up(values), d_out(d), in_place(values);
    auto result = poisoned<T>(values.size());
    swiglu_backward<T>(device().stream, result, d_out, gate_up, size.rows, size.I);
    const auto all = result.host();
    std::vector<T> gate, up;
    for (int64_t i = 0; i < static_cast<int64_t>(all.size()); i++) {
      (i % (2 * size.I) < size.I ? gate : up).push_back(all[i]);
    }
    close_gradient(gate, gate_expected, named("dgate", size).c_str());
    // The forward pass multiplies up by a rounded value, so here are two roundings.
    near(up, up_expected, sizeof(T) == 2 ? 2.1 * unit<T> : 4e-6, named("dup", size).c_str(), 1e-3);

    swiglu_backward<T>(device().stream, in_place, d_out, in_place, size.rows, size.I);
    equal(in_place.host(), all, named("gradients in place", size).c_str());
  }
}

TEST(swiglu_backward_float) { check_backward<float>(); }
TEST(swiglu_backward_bf16) { check_backward<bf16>(); }

}  // namespace
}  // namespace millrace::test
