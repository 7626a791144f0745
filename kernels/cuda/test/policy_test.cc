// What a policy promises besides its numbers, which Go's tests hold to other
// implementations: publishing, exact weights, and packs that are refused.
#include "policy.h"

#include <cstring>
#include <limits>

#include "check.h"

namespace millrace::test {
namespace {

const Shape shape = {/*V*/ 13, /*C*/ 12, /*I*/ 20, /*L*/ 2, /*H*/ 4, /*K*/ 2, /*D*/ 6, /*max_positions*/ 40, 1e-6f, 1e4, /*tied*/ false};

const AdamStep adam = {0.01, 0.9, 0.95, 1e-6, 0.1, 1, 0};

struct Made {
  explicit Made(Precision precision) : gemm(device()), policy(make_policy(device(), gemm, shape, precision, Recompute::automatic)) {}

  std::vector<float> read(Kind kind, const Layout::Tensor& t) {
    std::vector<float> values(t.n, -1);
    policy->read(kind, t.name, values.data(), t.n);
    return values;
  }
  std::vector<float> all() {
    std::vector<float> values;
    for (const Layout::Tensor& t : policy->layout().tensors) {
      const auto part = read(Kind::weight, t);
      values.insert(values.end(), part.begin(), part.end());
    }
    return values;
  }
  void write(Kind kind, Random& random) {
    for (const Layout::Tensor& t : policy->layout().tensors) {
      policy->write(kind, t.name, random.normals<float>(t.n).data(), t.n);
    }
  }
  // sampled are the bytes of the published weights.
  std::vector<char> sampled(size_t value) {
    std::vector<char> bytes(policy->layout().size * value);
    check(cudaMemcpy(bytes.data(), policy->sampled(), bytes.size(), cudaMemcpyDeviceToHost), "reading");
    return bytes;
  }

  Gemm gemm;
  std::unique_ptr<Policy> policy;
};

void check_publishing(Precision precision) {
  const size_t value = precision == Precision::bf16 ? 2 : 4;
  Random random = fresh();
  Made made(precision);
  Policy& p = *made.policy;
  made.write(Kind::weight, random);
  expect(p.sampled() == nullptr, "weights are sampled before the first publish");
  p.publish(3);
  const void* first = p.sampled();
  const auto before = made.sampled(value);
  const auto weights = made.all();

  for (int step = 0; step < 2; step++) {  // the second writes in place
    made.write(Kind::gradient, random);
    expect(p.step(adam).finite, "the step is skipped");
    expect(p.version() == 3 && p.sampled() == first, "a step publishes");
    equal(made.sampled(value), before, "published weights after a step");
  }
  const auto stepped = made.all();
  expect(stepped != weights, "two steps change nothing");

  p.publish(4);
  expect(p.version() == 4 && p.sampled() != first, "publishing does not move to the new weights");
  expect(made.sampled(value) != before, "the published weights are the old ones");
  equal(made.all(), stepped, "weights after publishing");

  const auto published = made.sampled(value);
  made.write(Kind::weight, random);
  equal(made.sampled(value), published, "published weights after others are written");
}

TEST(publishing_float) { check_publishing(Precision::fp32); }
TEST(publishing_bf16) { check_publishing(Precision::bf16); }

// A step that is skipped, and one after it in a published policy, are as if the first had
// not been.
void check_skipped_step(Precision precision) {
  Random random = fresh();
  Made made(precision);
  made.write(Kind::weight, random);
  made.policy->publish(1);
  const auto weights = made.all();
  made.write(Kind::gradient, random);
  const Layout::Tensor& t = made.policy->layout().tensors[4];
  std::vector<float> bad(t.n, 0.5f);
  bad.back() = std::numeric_limits<float>::quiet_NaN();
  made.policy->write(Kind::gradient, t.name, bad.data(), t.n);
  expect(!made.policy->step(adam).finite, "a gradient that is NaN makes a step");
  expect(made.policy->steps() == 0, "a skipped step counts");
  equal(made.all(), weights, "weights after a skipped step");
  for (const Layout::Tensor& of : made.policy->layout().tensors) {
    equal(made.read(Kind::gradient, of), std::vector<float>(of.n, 0), of.name.c_str());
    equal(made.read(Kind::exp_avg, of), std::vector<float>(of.n, 0), of.name.c_str());
  }
}

TEST(skipped_step_float) { check_skipped_step(Precision::fp32); }
TEST(skipped_step_bf16) { check_skipped_step(Precision::bf16); }

TEST(weights_are_exact) {
  for (Precision precision : {Precision::fp32, Precision::bf16}) {
    Random random = fresh();
    Made made(precision);
    std::vector<float> written;
    for (const Layout::Tensor& t : made.policy->layout().tensors) {
      auto values = random.normals<float>(t.n);
      values[0] = 0x1.018p0f;  // a half of bf16
      values.back() = -0x1p-140f;
      made.policy->write(Kind::weight, t.name, values.data(), t.n);
      written.insert(written.end(), values.begin(), values.end());
    }
    equal(made.all(), written, "weights");
  }
}

TEST(refused_packs) {
  Made made(Precision::fp32);
  const std::vector<int32_t> tokens = {1, 2, 3, 4, 5}, starts = {0, 3, 5};
  const Target good = {0, 2, 0, 0, 0, 0, 1, 1}, next = {3, 5, 1, 0, 0, 0, 1, 1};
  std::vector<Outcome> outcomes(2);
  auto log_probs = [&](std::vector<int32_t> tokens, std::vector<int32_t> starts, std::vector<Target> targets) {
    made.policy->log_probs({tokens.data(), starts.data(), int64_t(starts.size()) - 1, targets.data(), int64_t(targets.size()), outcomes.data()}, 1);
  };
  auto refused = [&](const char* part, std::vector<int32_t> tokens, std::vector<int32_t> starts, std::vector<Target> targets) {
    expect_error(Status::invalid, {part}, [&] { log_probs(tokens, starts, targets); });
  };
  auto changed = [](Target t, int32_t row, int32_t token, int32_t sequence) {
    t.row = row;
    t.token = token;
    t.sequence = sequence;
    return t;
  };
  log_probs(tokens, starts, {good, next});
  refused("token 1 of the pack is 13", {1, 13, 3, 4, 5}, starts, {good});
  refused("token 1 of the pack is -1", {1, -1, 3, 4, 5}, starts, {good});
  refused("sequence 1 has 0 tokens", tokens, {0, 3, 3, 5}, {good});
  refused("begins with a sequence at 0", tokens, {1, 3, 5}, {good});
  refused("sequence 0 has 41 tokens", std::vector<int32_t>(41, 1), {0, 41}, {good});
  refused("no target", tokens, starts, {});
  refused("target 1", tokens, starts, {next, good});
  refused("target 1", tokens, starts, {good, good});
  refused("target 0", tokens, starts, {changed(good, 2, 2, 0)});
  refused("target 0", tokens, starts, {changed(good, 0, 13, 0)});
  refused("target 0", tokens, starts, {changed(good, 0, 2, 2)});
  refused("target 0", tokens, starts, {changed(good, -1, 2, 0)});
}

TEST(unknown_tensors) {
  Made made(Precision::fp32);
  float value = 0;
  expect_error(Status::invalid, {"lm_head.bias is no part"}, [&] { made.policy->write(Kind::weight, "lm_head.bias", &value, 1); });
  expect_error(Status::invalid, {"model.norm.weight has 12 values, 1 were given"}, [&] { made.policy->read(Kind::gradient, "model.norm.weight", &value, 1); });
  expect_error(Status::invalid, {"no kind 7"}, [&] {
    std::vector<float> values(12);
    made.policy->write(static_cast<Kind>(7), "model.norm.weight", values.data(), 12);
  });
}

}  // namespace
}  // namespace millrace::test
