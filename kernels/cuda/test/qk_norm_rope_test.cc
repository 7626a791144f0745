#include "check.h"
#include "kernels.h"
#include "rounding.h"

namespace millrace::test {
namespace {

constexpr int64_t most_positions = 40;

Shape shape_of(int64_t H, int64_t K, int64_t D) {
  Shape shape = {};
  shape.H = H, shape.K = K, shape.D = D;
  shape.eps = 1e-6f, shape.theta = 1e4, shape.max_positions = most_positions;
  return shape;
}

struct Size {
  int64_t rows, H, K, D;

  std::string text() const {
    return std::to_string(rows) + " rows of " + std::to_string(H) + "+" + std::to_string(K) + " heads of " +
           std::to_string(D);
  }
};

// Halves of 16-byte pieces and of single values, lanes with nothing to hold, heads that
// fill no block, and more heads than a pass of the backward kernel's blocks.
const std::vector<Size> sizes = {{1, 1, 1, 2}, {7, 3, 1, 6}, {5, 4, 2, 16}, {3, 2, 2, 96},
                                 {9, 4, 2, 128}, {2, 2, 1, 250}, {3, 1, 1, 256}, {1500, 2, 1, 256}};

// Case is an input, and what float64 makes of it.
template <class T>
struct Case {
  Size size;
  Shape shape;
  std::vector<T> qkv, q_weight, k_weight, cos, sin;
  std::vector<int32_t> positions;

  Case(Random& random, Size size)
      : size(size), shape(shape_of(size.H, size.K, size.D)),
        qkv(random.normals<T>(size.rows * shape.qkv(), 2)),
        q_weight(random.normals<T>(size.D)), k_weight(random.normals<T>(size.D)) {
    for (int64_t r = 0; r < size.rows; r++) {
      positions.push_back(static_cast<int32_t>(random.integer(0, most_positions - 1)));
    }
    // A table of any numbers: that cos and sin belong together is make_rope's matter.
    cos = random.normals<T>(most_positions * size.D / 2);
    sin = random.normals<T>(most_positions * size.D / 2);
  }

  int64_t heads() const { return size.H + size.K; }
  double in(int64_t r, int64_t h, int64_t i) const { return to_float(qkv[r * shape.qkv() + h * size.D + i]); }
  double weight(int64_t h, int64_t i) const { return to_float((h < size.H ? q_weight : k_weight)[i]); }
  double c(int64_t r, int64_t i) const { return to_float(cos[positions[r] * size.D / 2 + i]); }
  double s(int64_t r, int64_t i) const { return to_float(sin[positions[r] * size.D / 2 + i]); }

  std::vector<double> factors() const {
    std::vector<double> result;
    for (int64_t r = 0; r < size.rows; r++) {
      for (int64_t h = 0; h < heads(); h++) {
        double squares = 0;
        for (int64_t i = 0; i < size.D; i++) squares += in(r, h, i) * in(r, h, i);
        result.push_back(1 / std::sqrt(squares / size.D + shape.eps));
      }
    }
    return result;
  }

  // rotated is q*cos + rotate_half(q)*sin with Hugging Face's roundings, given the factors.
  std::vector<double> rotated(const std::vector<float>& factor) const {
    const int64_t half = size.D / 2;
    std::vector<double> result(size.rows * heads() * size.D), n(size.D);
    for (int64_t r = 0; r < size.rows; r++) {
      for (int64_t h = 0; h < heads(); h++) {
        for (int64_t i = 0; i < size.D; i++) {
          n[i] = through_float<T>(weight(h, i) * through_float<T>(in(r, h, i) * factor[r * heads() + h]));
        }
        for (int64_t i = 0; i < size.D; i++) {
          const double turned = i < half ? -n[i + half] : n[i - half];
          result[(r * heads() + h) * size.D + i] =
              through_float<T>(through_float<T>(n[i] * c(r, i % half)) + through_float<T>(turned * s(r, i % half)));
        }
      }
    }
    return result;
  }
};

template <class T>
void check_forward() {
  Random random = fresh();
  for (const Size size : sizes) {
    const Case<T> test(random, size);
    const OnDevice<T> qkv(test.qkv), q_weight(test.q_weight), k_weight(test.k_weight), cos(test.cos), sin(test.sin);
    const OnDevice<int32_t> positions(test.positions);
    auto qk = poisoned<T>(size.rows * test.heads() * size.D), again = poisoned<T>(qk.size());
    auto factor = poisoned<float>(size.rows * test.heads());
    qk_norm_rope<T>(device().stream, qk, factor, qkv, q_weight, k_weight, positions, {cos, sin}, size.rows, test.shape);
    near(factor.host(), test.factors(), 1e-6, ("factor of " + size.text()).c_str(), 0);
    // The two products of a sum may cancel. Among a million they are as large as 40, each
    // with three roundings of 2^-24 of it.
    matches(qk.host(), test.rotated(factor.host()), ("qk of " + size.text()).c_str(), 8);

    qk_norm_rope<T>(device().stream, again, nullptr, qkv, q_weight, k_weight, positions, {cos, sin}, size.rows,
                    test.shape);
    equal(again.host(), qk.host(), ("qk without factors of " + size.text()).c_str());
  }
}

TEST(qk_norm_rope_float) { check_forward<float>(); }
TEST(qk_norm_rope_bf16) { check_forward<bf16>(); }

template <class T>
void check_backward() {
  Random random = fresh();
  for (const Size size : sizes) {
    const Case<T> test(random, size);
    const int64_t half = size.D / 2, width = test.shape.qkv(), normed = test.heads() * size.D;
    const auto dqk = random.normals<T>(size.rows * normed), dv = random.normals<T>(size.rows * width);
    const auto dq_before = random.normals<float>(size.D), dk_before = random.normals<float>(size.D);
    std::vector<float> factor;
    for (double f : test.factors()) factor.push_back(static_cast<float>(f));

    std::vector<double> expected(size.rows * normed), d(size.D);
    std::vector<double> dq_weight = doubles(dq_before), dk_weight = doubles(dk_before);
    for (int64_t r = 0; r < size.rows; r++) {
      for (int64_t h = 0; h < test.heads(); h++) {
        const T* up = dqk.data() + (r * test.heads() + h) * size.D;
        const double f = factor[r * test.heads() + h];
        double mean = 0;
        for (int64_t i = 0; i < size.D; i++) {
          // The transpose of the forward pass's rotation.
          const double other = i < half ? to_float(up[i + half]) : -to_float(up[i - half]);
          d[i] = to_float(up[i]) * test.c(r, i % half) + other * test.s(r, i % half);
          (h < size.H ? dq_weight : dk_weight)[i] += d[i] * through_float<T>(test.in(r, h, i) * f);
          mean += d[i] * test.weight(h, i) * test.in(r, h, i) / size.D;
        }
        for (int64_t i = 0; i < size.D; i++) {
          expected[r * normed + h * size.D + i] = f * d[i] * test.weight(h, i) - f * f * f * mean * test.in(r, h, i);
        }
      }
    }

    const OnDevice<T> qkv(test.qkv), q_weight(test.q_weight), k_weight(test.k_weight), cos(test.cos), sin(test.sin);
    const OnDevice<T> gradient(dqk);
    const OnDevice<int32_t> positions(test.positions);
    const OnDevice<float> factors(factor);
    auto scratch = poisoned<float>(qk_norm_rope_scratch(size.rows, test.shape));
    std::vector<float> sums;
    std::vector<T> first;
    for (int run = 0; run < 2; run++) {
      const OnDevice<T> dqkv(dv);
      const OnDevice<float> dq(dq_before), dk(dk_before);
      qk_norm_rope_backward<T>(device().stream, dqkv, dq, dk, scratch, gradient, qkv, factors, q_weight, k_weight,
                               positions, {cos, sin}, size.rows, test.shape);
      const double usual = std::sqrt(size.rows * size.H);  // a sum of so many random terms
      near(dq.host(), dq_weight, 1e-5, ("dq_weight of " + size.text()).c_str(), usual);
      near(dk.host(), dk_weight, 1e-5, ("dk_weight of " + size.text()).c_str(), usual);
      const auto all = dqkv.host();
      std::vector<T> left, values, values_before;
      for (size_t i = 0; i < all.size(); i++) {
        const bool is_value = static_cast<int64_t>(i) % width >= normed;
        (is_value ? values : left).push_back(all[i]);
        if (is_value) values_before.push_back(dv[i]);
      }
      close_gradient(left, expected, ("dqkv of " + size.text()).c_str());
      equal(values, values_before, ("dv of " + size.text()).c_str());
      if (run == 1) equal(all, first, "dqkv again"), equal(dq.host(), sums, "dq_weight again");
      first = all, sums = dq.host();
    }
    scratch.host();  // checks that its size was enough
  }
}

TEST(qk_norm_rope_backward_float) { check_backward<float>(); }
TEST(qk_norm_rope_backward_bf16) { check_backward<bf16>(); }

// The forward pass's derivative by differences: the backward formulas are those of this
// function, not only of the reference above.
TEST(qk_norm_rope_backward_is_the_derivative) {
  Random random = fresh();
  const Size size = {2, 2, 1, 8};
  const Case<float> test(random, size);
  const auto dqk = random.normals<float>(size.rows * test.heads() * size.D);
  const OnDevice<float> q_weight(test.q_weight), k_weight(test.k_weight), cos(test.cos), sin(test.sin);
  const OnDevice<float> up(dqk), qkv(test.qkv);
  const OnDevice<int32_t> positions(test.positions);
  auto qk = poisoned<float>(dqk.size()), factor = poisoned<float>(size.rows * test.heads());
  const auto objective = [&](const std::vector<float>& in) {
    const OnDevice<float> moved(in);
    qk_norm_rope<float>(device().stream, qk, factor, moved, q_weight, k_weight, positions, {cos, sin}, size.rows,
                        test.shape);
    const auto out = qk.host();
    double sum = 0;
    for (size_t i = 0; i < out.size(); i++) sum += static_cast<double>(out[i]) * dqk[i];
    return sum;
  };
  objective(test.qkv);
  const std::vector<float> no_weight(size.D);
  const OnDevice<float> dqkv(std::vector<float>(test.qkv.size())), dq(no_weight), dk(no_weight);
  auto scratch = poisoned<float>(qk_norm_rope_scratch(size.rows, test.shape));
  qk_norm_rope_backward<float>(device().stream, dqkv, dq, dk, scratch, up, qkv, factor, q_weight, k_weight, positions,
                               {cos, sin}, size.rows, test.shape);
  const auto gradient = dqkv.host();
  for (size_t i = 0; i < test.qkv.size(); i++) {
    const float step = 1.0f / 128;
    std::vector<float> more = test.qkv, less = test.qkv;
    more[i] += step, less[i] -= step;
    const double slope = (objective(more) - objective(less)) / (static_cast<double>(more[i]) - less[i]);
    near(std::vector<double>{gradient[i]}, {slope}, 1e-2, ("derivative by value " + std::to_string(i)).c_str());
  }
}

TEST(qk_norm_rope_refuses_heads_it_cannot_rotate) {
  auto nothing = poisoned<float>(1);
  const OnDevice<int32_t> position(std::vector<int32_t>{0});
  for (const int64_t D : {7, 258}) {
    expect_error(Status::invalid, {"heads of " + std::to_string(D) + " values"}, [&] {
      qk_norm_rope<float>(device().stream, nothing, nullptr, nothing, nothing, nothing, position, {nothing, nothing}, 1,
                          shape_of(1, 1, D));
    });
  }
}

}  // namespace
}  // namespace millrace::test
