#include "sampler.h"

#include <algorithm>
#include <numeric>

#include "check.h"
#include "uniform.h"

namespace millrace::test {
namespace {

std::vector<Sampled> sampled(const std::vector<float>& logits, const std::vector<SamplingRow>& rows) {
  const int64_t n = rows.size(), V = logits.size() / n;
  OnDevice<float> logits_there(logits);
  OnDevice<SamplingRow> rows_there(rows);
  auto scratch = poisoned<char>(sampler_scratch(n, V));
  auto result = poisoned<Sampled>(n);
  sample(device().stream, result, logits_there, rows_there, n, V, scratch.data());
  scratch.host();
  return result.host();
}

SamplingRow settings(Random& random, float temperature, int32_t top_k, float top_p, float min_p) {
  const uint64_t seed = random.integer(INT64_MIN, INT64_MAX);
  return {seed, random.integer(0, 100000), temperature, top_p, min_p, top_k};
}

// rounding is how far the sums of float32 weights may be off, relative to the total:
// a weight's exponent has three roundings, of a number up to 20 where it matters.
constexpr double rounding = 3 * 20 * unit<float>;

// Expected is what a row must give, by the definition in float64. Where rounding
// decides, more than one answer is right.
struct Expected {
  std::vector<double> weight;  // relative to the best
  double kept = 0;             // weight of the tokens kept
  double doubtful = 0;         // of them, of those that rounding may leave out or let in

  Expected(const float* logits, int64_t V, const SamplingRow& row) : weight(V) {
    const double most = *std::max_element(logits, logits + V);
    std::vector<int64_t> order(V);
    std::iota(order.begin(), order.end(), 0);
    for (int64_t i = 0; i < V; i++) weight[i] = std::exp((logits[i] - most) / row.temperature);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return weight[a] > weight[b]; });
    size_t end = V;
    if (row.min_p > 0) {
      end = 0;
      while (end < order.size() && weight[order[end]] >= row.min_p) end++;
      for (int64_t i : order) {
        if (std::fabs(weight[i] / row.min_p - 1) < rounding) doubtful += weight[i];
      }
    }
    if (row.top_k > 0) end = std::min<size_t>(end, row.top_k);
    for (size_t i = 0; i < end; i++) kept += weight[order[i]];
    if (row.top_p > 0 && row.top_p < 1) {
      double reached = 0, all = kept;
      for (size_t i = 0; i < end; i++) {
        reached += weight[order[i]];
        const double past = reached - row.top_p * all;
        if (std::fabs(past) < rounding * all) doubtful += weight[order[i]];
        if (past >= 0) {
          end = i + 1;
          kept = reached;
          break;
        }
      }
    }
    order.resize(end);
    cut = row.min_p > 0 || (row.top_k > 0 && row.top_k < V) || (row.top_p > 0 && row.top_p < 1);
    if (!cut) std::sort(order.begin(), order.end());
    last = weight[order.back()];
    in_order = order;
  }

  // allows tells whether u may draw the token. Under cuts, tokens whose weights are
  // equal but for rounding may stand in either order.
  bool allows(int32_t token, double u) const {
    double before = 0, through = 0;
    bool found = false;
    for (int64_t i : in_order) {
      found |= i == token;
      const bool same = cut && std::fabs(weight[i] - weight[token]) <= rounding * weight[token];
      if (i == token || same || !found) through += weight[i];
      if (!found && !same) before += weight[i];
    }
    const double slack = rounding * kept + doubtful;
    if (!found && weight[token] < last * (1 - rounding) - doubtful) return false;
    return before - slack <= u * kept && u * kept <= through + slack;
  }

  bool cut;
  double last;
  std::vector<int64_t> in_order;
};

void check_row(const float* logits, int64_t V, const SamplingRow& row, const Sampled& got, const std::string& what) {
  if (got.token < 0 || got.token >= V) return fail(what + ": token " + std::to_string(got.token));
  const Expected expected(logits, V, row);
  const double u = uniform(row.seed, row.position);
  expect(expected.allows(got.token, u),
         what + ": token " + std::to_string(got.token) + " is not what u = " + std::to_string(u) + " draws");
  const double log_prob = std::log(expected.weight[got.token] / expected.kept);
  const double tolerance = 2 * rounding + expected.doubtful / expected.kept;
  near(std::vector<double>{got.log_prob}, {log_prob}, tolerance, (what + ": log-probability").c_str());
  SamplingRow untempered = {};
  untempered.temperature = 1;
  const Expected all(logits, V, untempered);
  near(std::vector<double>{got.log_prob_untempered}, {std::log(all.weight[got.token] / all.kept)}, 2 * rounding,
       (what + ": untempered log-probability").c_str());
}

// Rows of every setting in one batch: peaked and flat ones, so that what is kept is
// few tokens and many, vocabularies that are no multiple of a load, and of several
// parts.
TEST(sample_from_the_documented_distribution) {
  Random random = fresh();
  for (int64_t V : {1, 2, 23, 1000, 1003, 9001}) {
    for (double spread : {3.0, 0.01}) {
      std::vector<SamplingRow> rows;
      for (float temperature : {0.5f, 1.0f, 2.0f}) {
        rows.push_back(settings(random, temperature, 0, 0, 0));
        rows.push_back(settings(random, temperature, 0, 1, 0));
        rows.push_back(settings(random, temperature, 1, 0, 0));
        rows.push_back(settings(random, temperature, 20, 0, 0));
        rows.push_back(settings(random, temperature, 1500, 0, 0));
        rows.push_back(settings(random, temperature, 0, 0.9f, 0));
        rows.push_back(settings(random, temperature, 0, 1e-6f, 0));
        rows.push_back(settings(random, temperature, 0, 0, 0.05f));
        rows.push_back(settings(random, temperature, 20, 0.5f, 0));
        rows.push_back(settings(random, temperature, 4000, 0.8f, 0.01f));
      }
      const std::vector<float> logits = random.normals<float>(rows.size() * V, spread);
      const std::vector<Sampled> got = sampled(logits, rows);
      for (size_t r = 0; r < rows.size(); r++) {
        check_row(logits.data() + r * V, V, rows[r], got[r],
                  "row " + std::to_string(r) + ", V " + std::to_string(V) + ", spread " + std::to_string(spread));
      }
    }
  }
}

// With all logits equal every token has the same place but for its id, and the
// threshold of every cut and draw is a number of tokens.
TEST(sample_orders_equals_by_id) {
  Random random = fresh();
  for (int64_t V : {9001, 700}) {
    std::vector<SamplingRow> rows;
    std::vector<int64_t> kept;
    for (int32_t k : {1, 10, 600, 3000}) {
      rows.push_back(settings(random, 1, k, 0, 0));
      kept.push_back(std::min<int64_t>(k, V));
      rows.push_back(settings(random, 1, k, 0.5f, 0));
      kept.push_back((std::min<int64_t>(k, V) + 1) / 2);
      rows.push_back(settings(random, 1, k, 0, 1));
      kept.push_back(std::min<int64_t>(k, V));
    }
    rows.push_back(settings(random, 1, 0, 0, 1));
    kept.push_back(V);
    const std::vector<Sampled> got = sampled(std::vector<float>(rows.size() * V, 0.25f), rows);
    for (size_t r = 0; r < rows.size(); r++) {
      const int32_t expected = static_cast<int32_t>(uniform(rows[r].seed, rows[r].position) * kept[r]);
      expect(got[r].token == expected, "row " + std::to_string(r) + " drew " + std::to_string(got[r].token) + " of " +
                                           std::to_string(kept[r]) + " equals, expected " + std::to_string(expected));
      near(std::vector<float>{got[r].log_prob}, {-std::log(kept[r])}, 2 * unit<float>, "log-probability of equals");
    }
  }
}

// The greatest logit twice, in two parts: the first is taken.
TEST(temperature_0_takes_the_first_best) {
  Random random = fresh();
  for (int64_t V : {5, 9001, 20003}) {
    std::vector<float> logits = random.normals<float>(2 * V);
    const int64_t first = random.integer(0, V - 2), second = random.integer(first + 1, V - 1);
    for (int64_t at : {first, second}) logits[at] = logits[V + at] = 9;
    const std::vector<SamplingRow> rows = {settings(random, 0, 0, 0, 0), settings(random, 0, 3, 0.5f, 0.1f)};
    for (const Sampled& got : sampled(logits, rows)) {
      expect(got.token == first, "took " + std::to_string(got.token) + ", the first best is " + std::to_string(first));
      expect(got.log_prob == 0, "the only token has log-probability " + std::to_string(got.log_prob));
    }
    SamplingRow one = {};
    one.temperature = 1;
    const Expected all(logits.data(), V, one);
    const float untempered = sampled(logits, rows)[0].log_prob_untempered;
    near(std::vector<float>{untempered}, {std::log(1 / all.kept)}, 2 * rounding, "untempered");
  }
}

// A row that has diverged is told, and its neighbours draw what they draw alone.
TEST(broken_rows_are_told) {
  Random random = fresh();
  const int64_t V = 9001;
  const float broken[] = {NAN, INFINITY, -INFINITY};
  for (const SamplingRow& row : {settings(random, 0, 0, 0, 0), settings(random, 1, 0, 0, 0),
                                 settings(random, 0.7f, 50, 0.9f, 0.01f)}) {
    std::vector<float> logits = random.normals<float>(4 * V);
    const Sampled alone = sampled({logits.begin(), logits.begin() + V}, {row})[0];
    logits[V + random.integer(0, V - 1)] = broken[0];
    logits[2 * V + random.integer(0, V - 1)] = broken[1];
    std::fill(logits.begin() + 3 * V, logits.end(), broken[2]);
    const std::vector<Sampled> got = sampled(logits, {row, row, row, row});
    equal(std::vector<Sampled>{got[0]}, {alone}, "the whole row");
    for (int r : {1, 2, 3}) {
      expect(got[r].token == -1 && std::isnan(got[r].log_prob) && std::isnan(got[r].log_prob_untempered),
             "drew " + std::to_string(got[r].token) + " from logits with " + std::to_string(broken[r - 1]));
    }
  }
}

// -Inf is a token without probability, in whole parts too.
TEST(infinitely_improbable_tokens_are_not_drawn) {
  Random random = fresh();
  const int64_t V = 20000;
  std::vector<float> logits(V, -INFINITY);
  const int64_t only = random.integer(9000, V - 1);
  logits[only] = -3;
  for (const SamplingRow& row :
       {settings(random, 0, 0, 0, 0), settings(random, 1, 0, 0, 0), settings(random, 1, 5, 0, 0),
        settings(random, 1, 0, 0.5f, 0), settings(random, 1, 0, 0, 0.5f)}) {
    const Sampled got = sampled(logits, {row})[0];
    expect(got.token == only && got.log_prob == 0 && got.log_prob_untempered == 0, "drew " + std::to_string(got.token));
  }
}

TEST(a_row_does_not_depend_on_its_batch) {
  Random random = fresh();
  const int64_t n = 7, V = 9002;
  std::vector<float> logits = random.normals<float>(n * V, 2);
  std::vector<SamplingRow> rows;
  for (int r = 0; r < n; r++) {
    rows.push_back(settings(random, 1, r % 2 ? 0 : 30 * r, r % 3 ? 0 : 0.9f, r % 5 ? 0 : 0.01f));
  }
  const std::vector<Sampled> together = sampled(logits, rows);
  for (int r = 0; r < n; r++) {
    equal(sampled({logits.begin() + r * V, logits.begin() + (r + 1) * V}, {rows[r]}), {together[r]}, "a row alone");
  }
}

TEST(too_large_a_vocabulary_is_refused) {
  expect_error(Status::invalid, {"9000000", "8388608"},
               [] { sample(device().stream, nullptr, nullptr, nullptr, 1, 9000000, nullptr); });
}

// What the sampler of kernels/cpu drew, written by its tests.
struct Case {
  int64_t vocabulary;
  uint64_t logits_seed;
  double spread;
  uint64_t seed;
  int64_t position;
  double temperature;
  int32_t top_k;
  double top_p, min_p;
  int32_t token;
  double log_prob;
};
const Case cases[] = {
#include "sampler_cases.inc"
};

TEST(the_cpu_sampler_draws_the_same_tokens) {
  for (const Case& c : cases) {
    std::vector<float> logits(c.vocabulary);
    for (int64_t j = 0; j < c.vocabulary; j++) logits[j] = static_cast<float>(c.spread * uniform(c.logits_seed, j));
    const SamplingRow row = {c.seed, c.position, static_cast<float>(c.temperature), static_cast<float>(c.top_p),
                             static_cast<float>(c.min_p), c.top_k};
    const Sampled got = sampled(logits, {row})[0];
    const std::string what = "case " + std::to_string(&c - cases + 1);
    expect(got.token == c.token, what + ": drew " + std::to_string(got.token) + ", the CPU " + std::to_string(c.token));
    near(std::vector<float>{got.log_prob}, {c.log_prob}, 1e-5, (what + ": log-probability").c_str());
  }
}

}  // namespace
}  // namespace millrace::test
