#include "check.h"
#include "kernels.h"
#include "rounding.h"

namespace millrace::test {
namespace {

template <class T>
void check_table(int64_t positions, int64_t D, double theta) {
  std::vector<double> cos_expected, sin_expected;
  for (int64_t p = 0; p < positions; p++) {
    for (int64_t i = 0; i < D / 2; i++) {
      const float frequency = static_cast<float>(std::exp(-2.0L * i / D * std::log(static_cast<long double>(theta))));
      const long double angle = static_cast<float>(p) * frequency;
      cos_expected.push_back(round_to<T>(static_cast<double>(std::cos(angle))));
      sin_expected.push_back(round_to<T>(static_cast<double>(std::sin(angle))));
    }
  }
  auto cos = poisoned<T>(cos_expected.size()), sin = poisoned<T>(sin_expected.size());
  make_rope<T>(device().stream, cos, sin, positions, D, theta);
  const std::string of = " of " + std::to_string(positions) + " x " + std::to_string(D);
  matches(cos.host(), cos_expected, ("cos" + of).c_str());
  matches(sin.host(), sin_expected, ("sin" + of).c_str());
}

TEST(rope_table_float) {
  check_table<float>(1, 2, 1e4);
  check_table<float>(300, 6, 1e4);
  check_table<float>(70, 128, 1e6);
}
TEST(rope_table_bf16) {
  check_table<bf16>(300, 6, 1e4);
  check_table<bf16>(70, 128, 5e6);
}

// Far positions: the angle is the float product, 1e-3 or more from the exact one.
TEST(rope_angles_are_float_products) {
  constexpr int64_t positions = 40960, D = 4;
  auto cos = poisoned<float>(positions * D / 2), sin = poisoned<float>(positions * D / 2);
  make_rope<float>(device().stream, cos, sin, positions, D, 3.0);
  const float frequency = static_cast<float>(1 / std::sqrt(3.0));
  const std::vector<float> table = sin.host();
  double furthest = 0;
  for (int64_t p = positions - 100; p < positions; p++) {
    const float angle = static_cast<float>(p) * frequency;
    near(std::vector<float>{table[p * 2 + 1]}, {std::sin(static_cast<double>(angle))}, 1e-6, "sin of a far position");
    furthest = std::fmax(furthest, std::fabs(static_cast<double>(angle) - p / std::sqrt(3.0)));
  }
  expect(furthest > 5e-4, "the positions are too near to tell");
}

}  // namespace
}  // namespace millrace::test
