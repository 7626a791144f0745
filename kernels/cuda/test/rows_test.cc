#include <numeric>

#include "check.h"
#include "kernels.h"
#include "rounding.h"

namespace millrace::test {
namespace {

template <class T>
void check_add() {
  Random random = fresh();
  for (const int64_t n : {1, 8, 127, 1000, 4100}) {
    const auto a = random.normals<T>(n), b = random.normals<T>(n);
    std::vector<double> expected;
    for (int64_t i = 0; i < n; i++) expected.push_back(through_float<T>(double(to_float(a[i])) + to_float(b[i])));
    const OnDevice<T> x(a), y(b);
    add<T>(device().stream, x, y, n);
    matches(x.host(), expected, ("sum of " + std::to_string(n)).c_str());
  }
}

TEST(add_float) { check_add<float>(); }
TEST(add_bf16) { check_add<bf16>(); }

// Rows of 16-byte pieces, of single values, and of more than a block.
const std::vector<int64_t> widths = {1, 24, 131, 1064};

template <class T>
void check_gather_and_scatter() {
  Random random = fresh();
  constexpr int64_t all = 19, n = 7;
  std::vector<int32_t> rows(all);
  std::iota(rows.begin(), rows.end(), 0);
  for (int64_t i = 0; i < n; i++) std::swap(rows[i], rows[random.integer(i, all - 1)]);
  rows.resize(n);
  for (const int64_t C : widths) {
    const std::string of = " of rows of " + std::to_string(C);
    const auto values = random.normals<T>(all * C), more = random.normals<T>(n * C);
    std::vector<T> gathered;
    std::vector<double> scattered = doubles(values);
    for (int64_t i = 0; i < n; i++) {
      for (int64_t c = 0; c < C; c++) {
        const int64_t at = rows[i] * C + c;
        gathered.push_back(values[at]);
        scattered[at] = through_float<T>(double(to_float(values[at])) + to_float(more[i * C + c]));
      }
    }
    const OnDevice<T> x(values), y(more);
    const OnDevice<int32_t> at(rows);
    auto out = poisoned<T>(n * C);
    gather<T>(device().stream, out, x, at, n, C);
    equal(out.host(), gathered, ("gather" + of).c_str());
    scatter_add<T>(device().stream, x, y, at, n, C);
    matches(x.host(), scattered, ("scatter" + of).c_str());
  }
}

TEST(gather_and_scatter_add_float) { check_gather_and_scatter<float>(); }
TEST(gather_and_scatter_add_bf16) { check_gather_and_scatter<bf16>(); }

}  // namespace
}  // namespace millrace::test
