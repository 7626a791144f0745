#include <limits>

#include "check.h"
#include "kernels.h"

namespace millrace::test {
namespace {

GradientNorm norm_of(const std::vector<float>& values, double clip_norm, size_t skip = 0) {
  const OnDevice<float> gradients(values);
  auto scratch = poisoned<double>(gradient_norm_scratch(values.size() - skip));
  auto result = poisoned<GradientNorm>(1);
  gradient_norm(device().stream, result, scratch, gradients + skip, values.size() - skip, clip_norm);
  scratch.host();  // checks that its size was enough
  return result.host()[0];
}

double expected_norm(const std::vector<float>& values, size_t skip = 0) {
  long double squares = 0;
  for (size_t i = skip; i < values.size(); i++) squares += static_cast<long double>(values[i]) * values[i];
  return static_cast<double>(std::sqrt(squares));
}

// Sizes of one block and of many, with a rest after the last 16 bytes; and a start
// that is not aligned to them.
TEST(gradient_norm_against_float64) {
  Random random = fresh();
  for (const size_t n : {1, 2, 5, 4096, 4099, 30001}) {
    for (const size_t skip : {0, 1}) {
      const auto values = random.normals<float>(n + skip);
      const double norm = expected_norm(values, skip);
      const GradientNorm result = norm_of(values, norm / 2, skip);
      near(std::vector<double>{result.norm}, {norm}, 1e-13, ("norm of " + std::to_string(n)).c_str(), 0);
      near(std::vector<float>{result.scale}, {norm / 2 / (norm + 1e-6)}, 1e-6, "scale", 0);
      expect(result.finite == 1, "finite");
      expect(norm_of(values, norm / 2, skip).norm == result.norm, "norm again");
    }
  }
}

TEST(gradient_norm_has_more_blocks_than_it_launches) {
  Random random = fresh();
  const auto values = random.normals<float>(4500000);
  near(std::vector<double>{norm_of(values, 0).norm}, {expected_norm(values)}, 1e-12, "norm", 0);
}

TEST(gradient_norm_clips_only_what_is_longer) {
  const std::vector<float> values = {3, 4};
  expect(norm_of(values, 0).scale == 1, "no clipping");
  expect(norm_of(values, 6).scale == 1, "a shorter gradient");
  near(std::vector<float>{norm_of(values, 1).scale}, {0.2}, 1e-6, "a longer gradient", 0);
}

TEST(gradient_norm_of_nothing_and_of_zeros_is_zero) {
  for (const size_t n : {0, 7}) {
    const GradientNorm result = norm_of(std::vector<float>(n), 1);
    expect(result.norm == 0 && result.scale == 1 && result.finite == 1, "norm of " + std::to_string(n) + " zeros");
  }
}

TEST(gradient_norm_is_finite_if_and_only_if_all_gradients_are) {
  std::vector<float> values(5000, 1);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {infinity, -infinity, std::nanf("")}) {
    for (const size_t at : {0, 4097, 4999}) {
      values[at] = bad;
      const GradientNorm result = norm_of(values, 1);
      expect(result.finite == 0 && result.scale == 0, "a gradient of " + std::to_string(bad));
      values[at] = 1;
    }
  }
  const std::vector<float> largest(5000, std::numeric_limits<float>::max());
  const GradientNorm result = norm_of(largest, 1);
  near(std::vector<double>{result.norm}, {expected_norm(largest)}, 1e-12, "norm of the largest floats", 0);
  expect(result.finite == 1, "the largest floats");
}

}  // namespace
}  // namespace millrace::test
