#include "gemm.h"

#include "check.h"

using namespace millrace;
using namespace millrace::test;

namespace {

// Matrix is row-major with rows of ld values, of which the last ld - columns are not its
// own.
template <class T>
struct Matrix {
  Matrix(Random& random, int64_t rows, int64_t columns, int64_t ld)
      : rows(rows), columns(columns), ld(ld), host(random.normals<T>(static_cast<size_t>(rows * ld))) {}

  double at(int64_t r, int64_t c) const { return static_cast<double>(to_float(host[static_cast<size_t>(r * ld + c)])); }

  int64_t rows, columns, ld;
  std::vector<T> host;
};

// A sum of k products of normals in float32 has about sqrt(k) * k units of error at
// worst, and each result is rounded once to Out.
template <class Out>
double allowed(int64_t k) {
  return unit<Out> + 4 * static_cast<double>(k) * unit<float>;
}

struct Size {
  int64_t rows, n, k;
};
const Size sizes[] = {{1, 1, 1}, {1, 40, 24}, {7, 5, 3}, {33, 64, 48}, {64, 130, 96}, {90, 33, 257}};

template <class T, class Out>
void test_forward() {
  Random random = fresh();
  Gemm gemm(device());
  for (const Size& s : sizes) {
    Matrix<T> x(random, s.rows, s.k, s.k + 3), w(random, s.n, s.k, s.k);
    Matrix<Out> y(random, s.rows, s.n, s.n + 5);
    OnDevice<T> dx(x.host), dw(w.host);
    OnDevice<Out> dy(y.host);
    gemm.forward<T, Out>(dy, y.ld, dx.data(), x.ld, dw.data(), s.rows, s.n, s.k);
    std::vector<double> expected = doubles(y.host);
    for (int64_t r = 0; r < s.rows; r++) {
      for (int64_t o = 0; o < s.n; o++) {
        double sum = 0;
        for (int64_t i = 0; i < s.k; i++) sum += x.at(r, i) * w.at(o, i);
        expected[static_cast<size_t>(r * y.ld + o)] = sum;
      }
    }
    near(dy.host(), expected, allowed<Out>(s.k), "y", std::sqrt(static_cast<double>(s.k)));
  }
}

template <class T>
void test_input_gradient(bool add) {
  Random random = fresh();
  Gemm gemm(device());
  for (const Size& s : sizes) {
    Matrix<T> dy(random, s.rows, s.n, s.n + 1), w(random, s.n, s.k, s.k), dx(random, s.rows, s.k, s.k + 2);
    OnDevice<T> on_dy(dy.host), on_w(w.host), on_dx(dx.host);
    gemm.input_gradient<T>(on_dx, dx.ld, on_dy.data(), dy.ld, on_w.data(), s.rows, s.n, s.k, add);
    std::vector<double> expected = doubles(dx.host);
    for (int64_t r = 0; r < s.rows; r++) {
      for (int64_t i = 0; i < s.k; i++) {
        double sum = add ? dx.at(r, i) : 0;
        for (int64_t o = 0; o < s.n; o++) sum += dy.at(r, o) * w.at(o, i);
        expected[static_cast<size_t>(r * dx.ld + i)] = sum;
      }
    }
    near(on_dx.host(), expected, allowed<T>(s.n), "dx", std::sqrt(static_cast<double>(s.n)));
  }
}

template <class T>
void test_weight_gradient() {
  Random random = fresh();
  Gemm gemm(device());
  for (const Size& s : sizes) {
    Matrix<T> dy(random, s.rows, s.n, s.n + 1), x(random, s.rows, s.k, s.k + 3);
    Matrix<float> dw(random, s.n, s.k, s.k);
    OnDevice<T> on_dy(dy.host), on_x(x.host);
    OnDevice<float> on_dw(dw.host);
    gemm.weight_gradient<T>(on_dw, on_dy.data(), dy.ld, on_x.data(), x.ld, s.rows, s.n, s.k);
    gemm.weight_gradient<T>(on_dw, on_dy.data(), dy.ld, on_x.data(), x.ld, 0, s.n, s.k);  // no rows add nothing
    std::vector<double> expected = doubles(dw.host);
    for (int64_t o = 0; o < s.n; o++) {
      for (int64_t i = 0; i < s.k; i++) {
        for (int64_t r = 0; r < s.rows; r++) expected[static_cast<size_t>(o * s.k + i)] += dy.at(r, o) * x.at(r, i);
      }
    }
    near(on_dw.host(), expected, allowed<float>(s.rows), "dw", std::sqrt(static_cast<double>(s.rows)));
  }
}

}  // namespace

TEST(forward_float) { test_forward<float, float>(); }
TEST(forward_bf16) { test_forward<bf16, bf16>(); }
TEST(forward_bf16_to_float) { test_forward<bf16, float>(); }
TEST(input_gradient_float) { test_input_gradient<float>(false); }
TEST(input_gradient_bf16) { test_input_gradient<bf16>(false); }
TEST(input_gradient_float_added) { test_input_gradient<float>(true); }
TEST(input_gradient_bf16_added) { test_input_gradient<bf16>(true); }
TEST(weight_gradient_float) { test_weight_gradient<float>(); }
TEST(weight_gradient_bf16) { test_weight_gradient<bf16>(); }

// What a product writes over is not read.
TEST(forward_over_nan) {
  Random random = fresh();
  Gemm gemm(device());
  OnDevice<bf16> x(random.normals<bf16>(6 * 16)), w(random.normals<bf16>(8 * 16)), y = poisoned<bf16>(6 * 8);
  gemm.forward<bf16, bf16>(y, 8, x.data(), 16, w.data(), 6, 8, 16);
  for (bf16 v : y.host()) expect(std::isfinite(to_float(v)), "NaN is left");
}

// An operand may begin anywhere: the algorithm is chosen by its alignment too.
TEST(forward_of_the_same_shape_at_another_alignment) {
  Random random = fresh();
  Gemm gemm(device());
  const int64_t rows = 5, n = 16, k = 32;
  std::vector<bf16> x = random.normals<bf16>(rows * k + 1), w = random.normals<bf16>(n * k);
  OnDevice<bf16> on_x(x), on_w(w);
  for (int shift : {0, 1}) {
    OnDevice<float> y = poisoned<float>(rows * n);
    gemm.forward<bf16, float>(y, n, on_x.data() + shift, k, on_w.data(), rows, n, k);
    std::vector<double> expected(rows * n);
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t o = 0; o < n; o++) {
        for (int64_t i = 0; i < k; i++)
          expected[r * n + o] += double{to_float(x[r * k + i + shift])} * double{to_float(w[o * k + i])};
      }
    }
    near(y.host(), expected, allowed<float>(k), "y", std::sqrt(static_cast<double>(k)));
  }
}

TEST(same_call_gives_the_same_bits) {
  Random random = fresh();
  Gemm gemm(device());
  const int64_t rows = 64, n = 32, k = 48;
  OnDevice<bf16> dy(random.normals<bf16>(rows * n)), x(random.normals<bf16>(rows * k));
  std::vector<float> first;
  for (int i = 0; i < 3; i++) {
    OnDevice<float> dw(std::vector<float>(n * k, 0.5f));
    gemm.weight_gradient<bf16>(dw, dy.data(), n, x.data(), k, rows, n, k);
    if (i == 0) first = dw.host();
    equal(dw.host(), first, "dw");
  }
}
