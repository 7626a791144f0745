#include <map>

#include "check.h"
#include "kernels.h"

namespace millrace::test {
namespace {

constexpr int64_t vocabulary = 23;

// A pack in which token 3 stands often enough to be summed by all groups of threads
// several times, and most others once or never.
std::vector<int32_t> pack(Random& random, int64_t rows) {
  std::vector<int32_t> tokens;
  for (int64_t r = 0; r < rows; r++) {
    tokens.push_back(r % 3 != 0 ? 3 : static_cast<int32_t>(random.integer(0, vocabulary - 1)));
  }
  return tokens;
}

template <class T>
void check_embedding() {
  Random random = fresh();
  for (const int64_t C : {1, 24, 131, 1064}) {
    const std::string of = " of width " + std::to_string(C);
    const auto tokens = pack(random, 61);
    const int64_t rows = static_cast<int64_t>(tokens.size());
    const auto table = random.normals<T>(vocabulary * C), dout = random.normals<T>(rows * C);
    const auto before = random.normals<float>(vocabulary * C);

    std::vector<T> looked_up;
    std::vector<double> dtable = doubles(before);
    std::map<int32_t, std::vector<int32_t>> places;
    for (int64_t r = 0; r < rows; r++) {
      places[tokens[r]].push_back(static_cast<int32_t>(r));
      for (int64_t c = 0; c < C; c++) {
        looked_up.push_back(table[tokens[r] * C + c]);
        dtable[tokens[r] * C + c] += to_float(dout[r * C + c]);
      }
    }
    std::vector<int32_t> unique, offset = {0}, row;
    for (const auto& [token, standing] : places) {
      unique.push_back(token);
      row.insert(row.end(), standing.begin(), standing.end());
      offset.push_back(static_cast<int32_t>(row.size()));
    }

    const OnDevice<T> weights(table), d(dout);
    const OnDevice<int32_t> ids(tokens), unique_at(unique), offset_at(offset), row_at(row);
    auto out = poisoned<T>(rows * C);
    embed<T>(device().stream, out, weights, ids, rows, C);
    equal(out.host(), looked_up, ("rows" + of).c_str());

    const Occurrences at = {unique_at, offset_at, row_at, static_cast<int32_t>(unique.size())};
    const OnDevice<float> gradient(before), again(before);
    embed_backward<T>(device().stream, gradient, d, at, C);
    embed_backward<T>(device().stream, again, d, at, C);
    near(gradient.host(), dtable, 1e-5, ("gradient" + of).c_str());
    equal(again.host(), gradient.host(), ("gradient again" + of).c_str());
  }
}

TEST(embedding_float) { check_embedding<float>(); }
TEST(embedding_bf16) { check_embedding<bf16>(); }

}  // namespace
}  // namespace millrace::test
