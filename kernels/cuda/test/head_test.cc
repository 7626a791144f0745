#include "head.h"

#include "check.h"
#include "head_reference.h"

namespace millrace::test {
namespace {

constexpr size_t whole = size_t{1} << 30;

// Problem is one call of the head.
template <class T>
struct Problem {
  int64_t n, V, C;
  std::vector<T> hidden, weight;
  std::vector<Target> targets;
  HeadReference reference;

  // Sequences of one to five targets, each of which wants another token. Behaviour and
  // reference log-probabilities are near the policy's, so that some clips bite.
  Problem(Random& random, int64_t n, int64_t V, int64_t C, double temperature)
      : n(n), V(V), C(C), hidden(random.normals<T>(n * C)), weight(random.normals<T>(V * C, 2 / std::sqrt(C))),
        targets(n), reference(hidden, weight, V, C) {
    int32_t sequence = 0;
    for (int64_t i = 0, left = 0; i < n; i++, left--) {
      const bool starts = left == 0;
      if (starts) left = random.integer(1, 5);
      if (starts && i > 0) sequence++;
      Target& t = targets[i];
      t.row = static_cast<int32_t>(3 * i);
      t.token = static_cast<int32_t>(random.integer(0, V - 1));
      t.sequence = sequence;
      t.has_behaviour = starts ? random.integer(0, 3) > 0 : targets[i - 1].has_behaviour;
      t.advantage = starts ? random.normal() : targets[i - 1].advantage;
      t.denominator = random.uniform(1, 50);
    }
    reference.observe(targets, temperature);
    for (int64_t i = 0; i < n; i++) {
      targets[i].behaviour = static_cast<float>(reference.rows[i].log_prob + 0.4 * random.normal());
      targets[i].reference = static_cast<float>(reference.rows[i].log_prob + 0.4 * random.normal());
    }
  }
};

// Gradients are what Head::train gave for a problem; dweight without what it was added
// to.
template <class T>
struct Gradients {
  std::vector<Outcome> outcome;
  std::vector<T> dhidden;
  std::vector<double> dweight;
};

template <class T>
Gradients<T> trained(const Problem<T>& p, const LossSettings& settings, size_t logits_bytes = whole) {
  Shape shape = {};
  shape.V = p.V, shape.C = p.C;
  Gemm gemm(device());
  Head<T> head(device(), gemm, shape, logits_bytes);
  OnDevice<T> hidden(p.hidden), weight(p.weight);
  OnDevice<Target> targets(p.targets);
  auto outcome = poisoned<Outcome>(p.n);
  auto dhidden = poisoned<T>(p.n * p.C);
  // A multiple of 1/1024 is added to without rounding away what the test looks at.
  const float before = 1.0f / 1024;
  OnDevice<float> dweight(std::vector<float>(p.V * p.C, before));

  Arena arena(device(), "a test's arena");
  arena.count();
  auto run = [&] {
    const int32_t sequences = p.n ? p.targets.back().sequence + 1 : 0;
    head.train(outcome, dhidden, dweight, hidden, weight, targets, p.n, sequences, settings, arena);
  };
  run();
  expect(p.n == 0 || arena.peak() > 0, "counting found that the head takes nothing");
  arena.reserve(std::max<size_t>(arena.peak(), 1));
  run();
  expect(arena.mark() == 0, "the head kept a part of the arena");

  std::vector<double> added = doubles(dweight.host());
  for (double& d : added) d -= before;
  return {outcome.host(), dhidden.host(), added};
}

// within checks |actual - expected| <= bound, value by value. lost is what adding to
// a number may round away.
void within(const std::vector<double>& actual, const std::vector<double>& expected, const std::vector<double>& bound,
            double lost, const char* what) {
  std::vector<double> error(actual.size());
  for (size_t i = 0; i < actual.size(); i++) {
    error[i] = (actual[i] - expected[i]) / (bound[i] + lost * (1.0 / 1024 + std::fabs(expected[i])));
  }
  near(error, std::vector<double>(error.size()), 1, what);
}

template <class T>
void check_outcome(const Gradients<T>& got, const HeadReference& expected) {
  std::vector<double> actual[6], right[6];
  for (int64_t i = 0; i < expected.n; i++) {
    const Outcome &a = got.outcome[i], &e = expected.outcome[i];
    const std::string which = "target " + std::to_string(i);
    expect(a.finite == e.finite, which + ": finite is " + std::to_string(a.finite));
    if (!e.finite) continue;
    expect(a.clipped == e.clipped, which + ": clipped is " + std::to_string(a.clipped));
    const double values[2][6] = {{a.log_prob, a.entropy, a.loss, a.ratio, a.kl, a.difference},
                                 {e.log_prob, e.entropy, e.loss, e.ratio, e.kl, e.difference}};
    for (int k = 0; k < 6; k++) actual[k].push_back(values[0][k]), right[k].push_back(values[1][k]);
  }
  const char* names[] = {"log_prob", "entropy", "loss", "ratio", "kl", "difference"};
  for (int k = 0; k < 6; k++) near(actual[k], right[k], 1e-5, names[k]);
}

template <class T>
void check_train(Problem<T>& p, const LossSettings& settings, size_t logits_bytes = whole) {
  const Gradients<T> got = trained(p, settings, logits_bytes);
  p.reference.train(p.targets, settings);
  check_outcome(got, p.reference);
  within(doubles(got.dhidden), p.reference.dhidden, p.reference.dhidden_bound, 0, "dhidden");
  within(got.dweight, p.reference.dweight, p.reference.dweight_bound, p.n * unit<float>, "dweight");
}

LossSettings plain() {
  LossSettings settings = {};
  settings.temperature = 1;
  return settings;
}

// every_loss are the losses of the recipes and what else kernels.Loss allows.
std::vector<LossSettings> every_loss() {
  std::vector<LossSettings> all;
  auto with = [&](void (*set)(LossSettings&)) {
    all.push_back(plain());
    set(all.back());
  };
  with([](LossSettings&) {});
  with([](LossSettings& l) { l.supervised = 1, l.temperature = 1.3; });
  with([](LossSettings& l) { l.clip_low = l.clip_high = 0.2; });
  with([](LossSettings& l) { l.clip_low = 0.2, l.clip_high = 0.28, l.temperature = 0.7; });
  with([](LossSettings& l) { l.clip_low = 3, l.clip_high = 0.28; });
  with([](LossSettings& l) { l.clip_low = 0.2, l.clip_high = 0.28, l.dual_clip = 1.4; });
  with([](LossSettings& l) { l.dual_clip = 1.2; });
  with([](LossSettings& l) { l.clip_low = l.clip_high = 0.2, l.kl_coefficient = 0.3; });
  with([](LossSettings& l) { l.clip_low = l.clip_high = 0.2, l.entropy_coefficient = 0.4; });
  with([](LossSettings& l) { l.entropy_coefficient = -0.4, l.kl_coefficient = 0.1, l.temperature = 1.7; });
  with([](LossSettings& l) { l.sequence_ratio = 1, l.clip_low = 0.05, l.clip_high = 0.1; });
  with([](LossSettings& l) {
    l.sequence_ratio = 1, l.clip_low = 0.1, l.clip_high = 0.1, l.dual_clip = 1.3, l.temperature = 0.8;
  });
  with([](LossSettings& l) { l.clipped_weight = 1, l.clip_low = 0.2, l.clip_high = 0.2; });
  with([](LossSettings& l) { l.clipped_weight = 1, l.sequence_ratio = 1, l.clip_low = 1, l.clip_high = 0.1; });
  with([](LossSettings& l) { l.truncated_is = 1.2; });
  with([](LossSettings& l) {
    l.truncated_is = 0.8, l.clip_low = l.clip_high = 0.2, l.dual_clip = 1.5, l.entropy_coefficient = 0.1;
  });
  return all;
}

template <class T>
void check_every_loss() {
  Random random = fresh();
  for (const LossSettings& settings : every_loss()) {
    Problem<T> p(random, 19, 103, 24, settings.temperature);
    check_train(p, settings);
  }
}
TEST(every_loss_in_float) { check_every_loss<float>(); }
TEST(every_loss_in_bf16) { check_every_loss<bf16>(); }

// Vocabularies that fill no load, one and several; rows in one chunk, and in chunks of
// five, whose last is not full.
template <class T>
void check_shapes() {
  Random random = fresh();
  LossSettings settings = plain();
  settings.clip_low = settings.clip_high = 0.2;
  settings.entropy_coefficient = 0.1;
  for (int64_t V : {1, 2, 23, 1000, 1003}) {
    const size_t five_rows = 5 * (V + 3) / 4 * 4 * sizeof(float) + 4;
    for (int64_t C : {1, 8, 37}) {
      for (int sequence_ratio : {0, 1}) {
        settings.sequence_ratio = sequence_ratio;
        Problem<T> p(random, 13, V, C, 1);
        check_train(p, settings, C == 8 ? whole : five_rows);
      }
    }
  }
}
TEST(shapes_in_float) { check_shapes<float>(); }
TEST(shapes_in_bf16) { check_shapes<bf16>(); }

// A row of several tiles, the last not full, of which less than half fits into shared
// memory: bf16 values are then written where logits that must be read again lay.
template <class T>
void check_long_row() {
  Random random = fresh();
  LossSettings settings = plain();
  settings.entropy_coefficient = 0.1;
  const int64_t V = 140001;
  Problem<T> p(random, 3, V, 4, 1);
  p.targets[0].token = static_cast<int32_t>(V - 1);
  p.targets[1].token = 0;
  check_train(p, settings);
}
TEST(a_long_row_in_float) { check_long_row<float>(); }
TEST(a_long_row_in_bf16) { check_long_row<bf16>(); }

// The gradient by every logit against difference quotients of the whole row's loss:
// with C = V and the identity as weight, dhidden is the gradient by the logits.
TEST(gradient_is_the_slope_of_the_loss) {
  Random random = fresh();
  const int64_t V = 11, n = 6;
  for (LossSettings settings : every_loss()) {
    Problem<float> p(random, n, V, V, settings.temperature);
    std::fill(p.weight.begin(), p.weight.end(), 0.0f);
    for (int64_t j = 0; j < V; j++) p.weight[j * V + j] = 1;
    p.reference = HeadReference(p.hidden, p.weight, V, V);
    p.reference.train(p.targets, settings);
    std::vector<double> expected;
    for (int64_t i = 0; i < n; i++) {
      const Target& t = p.targets[i];
      const Fixed fixed = {p.reference.rows[i].log_prob, p.reference.mean[i]};
      for (int64_t j = 0; j < V; j++) {
        std::vector<double> z(p.hidden.begin() + i * V, p.hidden.begin() + (i + 1) * V);
        double loss[2];
        for (int side : {0, 1}) {
          z[j] = p.hidden[i * V + j] + (side ? 1e-6 : -1e-6);
          const ReferenceRow row = reference_row(z.data(), V, t.token, settings.temperature);
          loss[side] = token_loss(settings, t, row.log_prob, row.entropy, fixed) / t.denominator;
        }
        expected.push_back((loss[1] - loss[0]) / 2e-6);
      }
    }
    near(trained(p, settings).dhidden, expected, 1e-5, "gradient by the logits");
  }
}

// Rows that are broken give 0, and the others what they give without them.
template <class T>
void check_broken(bool sequence_ratio) {
  Random random = fresh();
  LossSettings settings = plain();
  settings.sequence_ratio = sequence_ratio;
  Problem<T> p(random, 12, 50, 16, 1);
  for (int64_t i = 0; i < p.n; i++) {
    p.targets[i].sequence = static_cast<int32_t>(i / 2);
    p.targets[i].has_behaviour = 1;
  }
  p.hidden[1 * p.C + 3] = from_float<T>(NAN);
  p.hidden[4 * p.C + 2] = from_float<T>(INFINITY);
  p.targets[6].behaviour = -2000;  // a ratio of infinity
  p.targets[9].advantage = NAN;
  p.reference = HeadReference(p.hidden, p.weight, p.V, p.C);
  check_train(p, settings);
  int broken = 0;
  for (const Outcome& o : p.reference.outcome) broken += !o.finite;
  expect(broken == (sequence_ratio ? 7 : 4), std::to_string(broken) + " targets are broken");
}
TEST(broken_rows_in_float) { check_broken<float>(false); }
TEST(broken_rows_in_bf16) { check_broken<bf16>(false); }
TEST(a_broken_row_breaks_its_sequence_ratio) { check_broken<float>(true); }

template <class T>
void check_log_probs() {
  Random random = fresh();
  for (int64_t V : {1, 23, 1003, 9001}) {
    const double temperature = random.uniform(0.5, 2);
    Problem<T> p(random, 11, V, 12, temperature);
    Shape shape = {};
    shape.V = V, shape.C = p.C;
    Gemm gemm(device());
    Head<T> head(device(), gemm, shape, 4 * (V + 3) * sizeof(float));
    OnDevice<T> hidden(p.hidden), weight(p.weight);
    OnDevice<Target> targets(p.targets);
    auto outcome = poisoned<Outcome>(p.n);
    Arena arena(device(), "a test's arena");
    arena.reserve(1 << 20);
    head.log_probs(outcome, hidden, weight, targets, p.n, temperature, arena);
    for (int64_t i = 0; i < p.n; i++) {
      const Outcome got = outcome.host()[i];
      const ReferenceRow& row = p.reference.rows[i];
      near(std::vector<double>{got.log_prob, got.entropy}, {row.log_prob, row.entropy}, 1e-5, "log_prob and entropy");
      expect(got.finite == 1, "finite is " + std::to_string(got.finite));
      const bool clear = got.loss == 0 && got.ratio == 0 && got.kl == 0 && got.difference == 0 && got.clipped == 0;
      expect(clear, "the rest is not clear");
    }
  }
}
TEST(log_probs_in_float) { check_log_probs<float>(); }
TEST(log_probs_in_bf16) { check_log_probs<bf16>(); }

TEST(training_twice_gives_the_same_bits) {
  Random random = fresh();
  Problem<bf16> p(random, 21, 1003, 24, 1);
  const Gradients<bf16> first = trained(p, plain(), 50000), second = trained(p, plain(), 50000);
  equal(first.outcome, second.outcome, "outcome");
  equal(first.dhidden, second.dhidden, "dhidden");
  equal(first.dweight, second.dweight, "dweight");
}

TEST(no_targets_do_nothing) {
  Random random = fresh();
  Problem<float> p(random, 0, 23, 8, 1);
  LossSettings settings = plain();
  settings.sequence_ratio = 1;
  for (double d : trained(p, settings).dweight) expect(d == 0, "dweight changed by " + std::to_string(d));
}

// Whole tiles of 128 rows of 151,936 float32 logits in 1 GiB, and a row where a tile
// does not fit.
TEST(chunks_are_whole_tiles_within_their_bytes) {
  Gemm gemm(device());
  Shape shape = {};
  shape.C = 1;
  auto chunk = [&](int64_t V, size_t bytes) {
    shape.V = V;
    return Head<bf16>(device(), gemm, shape, bytes).chunk();
  };
  expect(chunk(151936, whole) == 13 * 128, "Qwen3's vocabulary: " + std::to_string(chunk(151936, whole)));
  const size_t seven_rows = 1004 * sizeof(float) * 7;
  expect(chunk(1003, seven_rows) == 7, "seven rows of an odd vocabulary: " + std::to_string(chunk(1003, seven_rows)));
  expect(chunk(1003, 10) == 1, "less than a row: " + std::to_string(chunk(1003, 10)));
}

}  // namespace
}  // namespace millrace::test
