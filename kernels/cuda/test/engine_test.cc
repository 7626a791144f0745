// What a tick promises besides its numbers, which Go's tests hold to another
// implementation: that a captured tick gives the bits of one that is not, and ticks that
// are refused.
#include "engine.h"

#include <algorithm>

#include "attention.h"
#include "check.h"

namespace millrace::test {
namespace {

const Shape shape = {/*V*/ 13, /*C*/ 12, /*I*/ 20, /*L*/ 2, /*H*/ 4, /*K*/ 2, /*D*/ 6, /*max_positions*/ 150, 1e-6f, 1e4, /*tied*/ false};

// Made is an engine, and a policy with random weights.
struct Made {
  Made(Precision precision, int64_t pages)
      : gemm(device()),
        policy(make_policy(device(), gemm, shape, precision, Recompute::automatic)),
        engine(make_engine(device(), gemm, shape, precision, {40, 5, pages, size_t{1} << 24})) {
    Random random = fresh();
    for (const Layout::Tensor& t : policy->layout().tensors) {
      policy->write(Kind::weight, t.name, random.normals<float>(t.n).data(), t.n);
    }
    policy->publish(1);
  }

  Gemm gemm;
  std::unique_ptr<Policy> policy;
  std::unique_ptr<Engine> engine;
};

// Sequences of a tick, each with pages of its own.
struct Ticked {
  std::vector<int32_t> tokens, starts = {0}, lengths, page_table, rows;
  std::vector<SamplingRow> samplings;
  std::vector<Sampled> sampled;

  void add(int32_t sequence, std::vector<int32_t> of, int32_t length) {
    tokens.insert(tokens.end(), of.begin(), of.end());
    starts.push_back(static_cast<int32_t>(tokens.size()));
    lengths.push_back(length);
    for (int32_t page = 0; page < 3; page++) page_table.push_back(3 * sequence + page);
    rows.push_back(static_cast<int32_t>(tokens.size()) - 1);
    samplings.push_back({7, length, 0.9f, 0, 0, 0});
  }
  HostTick host() {
    sampled.assign(samplings.size(), Sampled{-7, 0, 0, 0});
    return {tokens.data(), starts.data(), lengths.data(), page_table.data(), rows.data(), samplings.data(), sampled.data(),
            static_cast<int64_t>(lengths.size()), 3, static_cast<int64_t>(samplings.size())};
  }
};

// Greedy of one sequence by ticks that decode, the third of which is the first replayed
// graph, equals reading the same tokens anew without one, at every length, beside other
// sequences, and over two pages.
void check_captured(Precision precision) {
  Made made(precision, 9);
  std::vector<int32_t> tokens = {3, 1};
  Ticked begin;
  begin.add(0, tokens, 2);
  made.engine->tick(*made.policy, begin.host());
  Sampled decoded = begin.sampled[0];
  for (int32_t length = 3; length <= 80; length++) {
    tokens.push_back(decoded.token);
    Ticked step;
    step.add(0, {decoded.token}, length);
    // Another one beside it now and then: other graphs, padded ones too.
    for (int32_t other = 1; other <= length % 3; other++) step.add(other, {5}, 1);
    made.engine->tick(*made.policy, step.host());
    decoded = step.sampled[0];
    if (length % 7 != 0 && length != 80) continue;
    Ticked anew;
    for (size_t at = 0; at < tokens.size(); at += 40) {
      const size_t end = std::min(tokens.size(), at + 40);
      anew = Ticked();
      anew.add(2, {tokens.begin() + at, tokens.begin() + end}, static_cast<int32_t>(end));
      made.engine->tick(*made.policy, anew.host());
    }
    equal_bytes(&decoded, &anew.sampled[0], sizeof decoded, sizeof decoded, "what was sampled");
  }
}

TEST(captured_float) { check_captured(Precision::fp32); }
TEST(captured_bf16) { check_captured(Precision::bf16); }

TEST(refused_ticks) {
  Made made(Precision::fp32, 6);
  auto refused = [&](const char* part, auto change) {
    Ticked t;
    t.add(0, {1, 2, 3}, 70);
    t.add(1, {4}, 1);
    HostTick host = t.host();
    change(t, host);
    expect_error(Status::invalid, {part}, [&] { made.engine->tick(*made.policy, host); });
    expect(t.sampled[0].token == -7, "a refused tick samples");
  };
  refused("token 2 is 13", [](Ticked& t, HostTick&) { t.tokens[2] = 13; });
  refused("token 0 is -1", [](Ticked& t, HostTick&) { t.tokens[0] = -1; });
  refused("page of sequence 0 is 6, want 0 to 5", [](Ticked& t, HostTick&) { t.page_table[1] = 6; });
  refused("page of sequence 1 is -1", [](Ticked& t, HostTick&) { t.page_table[3] = -1; });
  refused("length 0 is 2, want 3", [](Ticked& t, HostTick&) { t.lengths[0] = 2; });
  refused("length 0 is 151, want 3 to 150", [](Ticked& t, HostTick&) { t.lengths[0] = 151; });
  refused("rows of sequence 1 is 0", [](Ticked& t, HostTick&) { t.starts[2] = 3; });
  refused("rows of sequence 1 is 38, want 1 to 37", [](Ticked& t, HostTick&) { t.starts[2] = 41; });
  refused("start 0 is 1", [](Ticked& t, HostTick&) { t.starts[0] = 1; });
  refused("sampled row 1 is 4, want 0 to 3", [](Ticked& t, HostTick&) { t.rows[1] = 4; });
  refused("number of samples is 3", [](Ticked&, HostTick& h) { h.samples = 3; });
  refused("number of sequences is 9", [](Ticked&, HostTick& h) { h.sequences = 9; });
  refused("stride is 4", [](Ticked&, HostTick& h) { h.table_stride = 4; });

  auto unpublished = make_policy(device(), made.gemm, shape, Precision::fp32, Recompute::automatic);
  auto other = make_policy(device(), made.gemm, shape, Precision::bf16, Recompute::automatic);
  Ticked t;
  t.add(0, {1}, 1);
  expect_error(Status::invalid, {"no weights are published"}, [&] { made.engine->tick(*unpublished, t.host()); });
  expect_error(Status::invalid, {"another shape or precision"}, [&] { made.engine->tick(*other, t.host()); });
  made.engine->tick(*made.policy, t.host());
  expect(t.sampled[0].token >= 0, "a good tick after refused ones samples nothing");
}

TEST(refused_engines) {
  Gemm gemm(device());
  expect_error(Status::invalid, {"limit of the engine is 0"}, [&] { make_engine(device(), gemm, shape, Precision::fp32, {40, 0, 5, 0}); });
  expect_error(Status::out_of_memory, {"cache of keys and values has 100 bytes"},
               [&] { make_engine(device(), gemm, shape, Precision::fp32, {40, 5, 5, 100}); });
}

}  // namespace
}  // namespace millrace::test
