#include "check.h"
#include "kernels.h"
#include "rounding.h"

namespace millrace::test {
namespace {

constexpr float eps = 1e-6f;

struct Size {
  int64_t rows, C;
};

// Pieces of 16 bytes and of single values, one warp a row and several, rows that fill
// no block, and more rows than a pass of the backward kernel's blocks.
const std::vector<Size> sizes = {{1, 8},   {5, 7},    {3, 24},   {9, 131}, {2, 300},
                                 {7, 264}, {3, 1032}, {2, 2056}, {2300, 8}};

std::string named(const char* what, Size size) {
  return std::string(what) + " of " + std::to_string(size.rows) + " x " + std::to_string(size.C);
}

// Case is a norm's inputs and their float64 reference. Factors are checked against it,
// and then the kernel's own are used, since one float ulp may move a rounding.
template <class T>
struct Case {
  Size size;
  std::vector<T> x, y, weight;

  Case(Random& random, Size size)
      : size(size), x(random.normals<T>(size.rows * size.C, 2)), y(random.normals<T>(size.rows * size.C)),
        weight(random.normals<T>(size.C)) {}

  std::vector<double> factors(const std::vector<double>& input) const {
    std::vector<double> result;
    for (int64_t r = 0; r < size.rows; r++) {
      double squares = 0;
      for (int64_t c = 0; c < size.C; c++) squares += input[r * size.C + c] * input[r * size.C + c];
      result.push_back(1 / std::sqrt(squares / size.C + eps));
    }
    return result;
  }

  std::vector<double> normed(const std::vector<double>& input, const std::vector<float>& factor) const {
    std::vector<double> result(input.size());
    for (size_t i = 0; i < input.size(); i++) {
      const double n = through_float<T>(input[i] * factor[i / size.C]);
      result[i] = through_float<T>(to_float(weight[i % size.C]) * n);
    }
    return result;
  }
};

template <class T>
void check_norm() {
  Random random = fresh();
  for (const Size size : sizes) {
    const Case<T> test(random, size);
    const OnDevice<T> x(test.x), weight(test.weight);
    auto out = poisoned<T>(x.size()), again = poisoned<T>(x.size());
    auto factor = poisoned<float>(size.rows);
    rms_norm<T>(device().stream, out, factor, x, weight, size.rows, size.C, eps);
    near(factor.host(), test.factors(doubles(test.x)), 1e-6, named("factor", size).c_str(), 0);
    matches(out.host(), test.normed(doubles(test.x), factor.host()), named("out", size).c_str());

    rms_norm<T>(device().stream, again, nullptr, x, weight, size.rows, size.C, eps);
    equal(again.host(), out.host(), named("out without factors", size).c_str());
  }
}

TEST(rms_norm_float) { check_norm<float>(); }
TEST(rms_norm_bf16) { check_norm<bf16>(); }

template <class T>
void check_add_norm() {
  Random random = fresh();
  for (const Size size : sizes) {
    const Case<T> test(random, size);
    std::vector<double> sums = doubles(test.x);
    for (size_t i = 0; i < sums.size(); i++) sums[i] = through_float<T>(sums[i] + to_float(test.y[i]));

    const OnDevice<T> x(test.x), y(test.y), weight(test.weight);
    auto sum = poisoned<T>(x.size()), out = poisoned<T>(x.size()), in_place = poisoned<T>(x.size());
    auto factor = poisoned<float>(size.rows);
    add_rms_norm<T>(device().stream, sum, out, factor, x, y, weight, size.rows, size.C, eps);
    matches(sum.host(), sums, named("sum", size).c_str());
    near(factor.host(), test.factors(sums), 1e-6, named("factor", size).c_str(), 0);
    matches(out.host(), test.normed(sums, factor.host()), named("out", size).c_str());

    add_rms_norm<T>(device().stream, x, in_place, nullptr, x, y, weight, size.rows, size.C, eps);
    equal(x.host(), sum.host(), named("sum in place", size).c_str());
    equal(in_place.host(), out.host(), named("out of a sum in place", size).c_str());
  }
}

TEST(add_rms_norm_float) { check_add_norm<float>(); }
TEST(add_rms_norm_bf16) { check_add_norm<bf16>(); }

// A row's result is the same alone as among others.
template <class T>
void check_alone() {
  Random random = fresh();
  const Size size = {11, 264};
  const Case<T> test(random, size);
  const OnDevice<T> x(test.x), weight(test.weight);
  auto all = poisoned<T>(x.size());
  rms_norm<T>(device().stream, all, nullptr, x, weight, size.rows, size.C, eps);
  const std::vector<T> together = all.host();
  for (int64_t r = 0; r < size.rows; r++) {
    auto out = poisoned<T>(size.C);
    rms_norm<T>(device().stream, out, nullptr, x + r * size.C, weight, 1, size.C, eps);
    equal(out.host(), {together.begin() + r * size.C, together.begin() + (r + 1) * size.C}, "a row alone");
  }
}

TEST(rms_norm_of_a_row_ignores_the_batch) { check_alone<float>(), check_alone<bf16>(); }

template <class T>
void check_backward() {
  Random random = fresh();
  for (const Size size : sizes) {
    const Case<T> test(random, size);
    const auto dout = random.normals<T>(test.x.size()), dsum = random.normals<T>(test.x.size());
    const auto before = random.normals<float>(size.C);
    std::vector<float> factor;
    for (double f : test.factors(doubles(test.x))) factor.push_back(static_cast<float>(f));

    std::vector<double> dx(dout.size()), dx_alone(dout.size()), dweight = doubles(before);
    for (int64_t r = 0; r < size.rows; r++) {
      const double f = factor[r];
      double mean = 0;
      for (int64_t c = 0; c < size.C; c++) {
        const int64_t i = r * size.C + c;
        const double d = to_float(dout[i]), v = to_float(test.x[i]);
        mean += d * to_float(test.weight[c]) * v / size.C;
        dweight[c] += d * through_float<T>(v * f);
      }
      for (int64_t c = 0; c < size.C; c++) {
        const int64_t i = r * size.C + c;
        const double v = to_float(test.x[i]);
        dx_alone[i] = f * to_float(dout[i]) * to_float(test.weight[c]) - f * f * f * mean * v;
        dx[i] = dx_alone[i] + to_float(dsum[i]);
      }
    }

    const OnDevice<T> d(dout), added(dsum), x(test.x), weight(test.weight);
    const OnDevice<float> factors(factor);
    auto scratch = poisoned<float>(rms_norm_scratch(size.rows, size.C));
    const auto run = [&](T* result, const T* sum, const char* what) {
      const OnDevice<float> gradient(before);
      rms_norm_backward<T>(device().stream, result, gradient, scratch, d, sum, x, weight, factors, size.rows, size.C);
      const double usual = std::sqrt(size.rows);  // a sum of so many random terms
      near(gradient.host(), dweight, 1e-5, named(what, size).c_str(), usual);
      return gradient.host();
    };
    auto out = poisoned<T>(x.size()), alone = poisoned<T>(x.size());
    const auto first = run(out, added, "dweight");
    close_gradient(out.host(), dx, named("dx", size).c_str());
    run(alone, nullptr, "dweight without dsum");
    close_gradient(alone.host(), dx_alone, named("dx without dsum", size).c_str());
    equal(run(added, added, "dweight in place"), first, named("dweight again", size).c_str());
    equal(added.host(), out.host(), named("dx in place of dsum", size).c_str());
    scratch.host();  // checks that its size was enough
  }
}

TEST(rms_norm_backward_float) { check_backward<float>(); }
TEST(rms_norm_backward_bf16) { check_backward<bf16>(); }

TEST(rms_norm_of_no_rows_does_nothing) {
  auto nothing = poisoned<float>(8);
  rms_norm<float>(device().stream, nothing, nothing, nothing, nothing, 0, 8, eps);
  rms_norm_backward<float>(device().stream, nothing, nothing, nothing, nothing, nullptr, nothing, nothing, nothing, 0,
                           8);
  for (float x : nothing.host()) expect(std::isnan(x), "written");
}

TEST(rms_norm_of_the_longest_rows) {
  auto row = poisoned<float>(8193);
  const OnDevice<float> zeros(std::vector<float>(8192));
  rms_norm<float>(device().stream, row, nullptr, zeros, zeros, 1, 8192, eps);
  const std::vector<float> out = row.host();
  for (int64_t c = 0; c < 8192; c++) expect(out[c] == 0, "value " + std::to_string(c));
  expect_error(Status::invalid, {"8193 values", "at most 8192"},
               [&] { rms_norm<float>(device().stream, row, nullptr, row, row, 1, 8193, eps); });
}

}  // namespace
}  // namespace millrace::test
