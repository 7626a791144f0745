#include <map>
#include <numeric>

#include "attention_pack.h"

using namespace millrace;
using namespace millrace::test;

namespace {

// Sequence has queries, keys and values for each of its positions; a tick may ask for
// its last rows.
template <class T>
struct Sequence {
  int length;
  std::vector<T> qk, qkv;  // [length, (H+K)*D], [length, (H+2K)*D]

  Sequence(Random& random, const Shape& shape, int length)
      : length(length),
        qk(random.normals<T>(length * (shape.H + shape.K) * shape.D)),
        qkv(random.normals<T>(length * shape.qkv())) {}
};

// Ask is the rows [from, to) of a sequence in a tick, whose cache ends at to.
template <class T>
struct Ask {
  const Sequence<T>* sequence;
  int from, to;
};

template <class T>
class Engine {
 public:
  // The pages of a sequence are scattered, and there are more than are needed: an
  // unwritten slot is NaN.
  Engine(Random& random, const Shape& shape, int pages)
      : shape_(shape),
        free_(pages),
        cache_(poisoned<T>(static_cast<size_t>(pages) * 2 * shape.K * page_tokens * shape.D)) {
    std::iota(free_.begin(), free_.end(), 0);
    for (size_t i = free_.size() - 1; i > 0; i--) std::swap(free_[i], free_[random.integer(0, i)]);
  }

  // tick writes the asked rows' keys and values and returns their attention [R,H*D].
  // Where whole is set it also writes those of the positions before.
  std::vector<T> tick(const std::vector<Ask<T>>& asks, bool whole, int spare_longest = 0) {
    if (whole) {
      std::vector<Ask<T>> before;
      for (const Ask<T>& ask : asks)
        if (ask.from > 0) before.push_back({ask.sequence, 0, ask.from});
      run(before, false, 0);
    }
    return run(asks, true, spare_longest);
  }

  const std::vector<T> cache() const { return cache_.host(); }
  bool split() const { return split_; }  // whether the last tick used scratch
  const std::vector<int32_t>& pages(const Sequence<T>* sequence) { return pages_[sequence]; }

 private:
  std::vector<T> run(const std::vector<Ask<T>>& asks, bool attend, int spare_longest) {
    const int64_t qk_width = (shape_.H + shape_.K) * shape_.D, qkv_width = shape_.qkv(), D = shape_.D;
    std::vector<T> qk, qkv;
    std::vector<int32_t> row_start = {0}, length, positions;
    PagedRows rows = {};
    for (const Ask<T>& ask : asks) {
      for (int p = ask.from; p < ask.to; p++) positions.push_back(p);
      append(qk, ask.sequence->qk, ask.from * qk_width, ask.to * qk_width);
      append(qkv, ask.sequence->qkv, ask.from * qkv_width, ask.to * qkv_width);
      row_start.push_back(static_cast<int32_t>(positions.size()));
      length.push_back(ask.to);
      rows.longest = std::max(rows.longest, ask.to + spare_longest);
      rows.most_rows = std::max(rows.most_rows, ask.to - ask.from);
      std::vector<int32_t>& own = pages_[ask.sequence];
      while (static_cast<int>(own.size()) < divided(ask.to, page_tokens)) {
        own.push_back(free_.back());
        free_.pop_back();
      }
    }
    rows.sequences = static_cast<int32_t>(asks.size());
    rows.rows = static_cast<int32_t>(positions.size());
    if (rows.rows == 0) return {};
    rows.table_stride = rows.longest / page_tokens + 2;
    std::vector<int32_t> table(rows.sequences * rows.table_stride, -1);
    for (size_t b = 0; b < asks.size(); b++) {
      const std::vector<int32_t>& own = pages_[asks[b].sequence];
      std::copy_n(own.begin(), divided(asks[b].to, page_tokens), table.begin() + b * rows.table_stride);
    }
    const OnDevice<int32_t> on_row_start(row_start), on_length(length), on_table(table), on_positions(positions);
    rows.row_start = on_row_start;
    rows.length = on_length;
    rows.page_table = on_table;

    const OnDevice<T> on_qk(qk), on_qkv(qkv), out = poisoned<T>(rows.rows * shape_.H * D);
    const OnDevice<float> scratch = poisoned<float>(paged_attention_scratch(rows, shape_));
    split_ = scratch.size() > 0;
    write_cache<T>(device().stream, {cache_}, {on_qk + shape_.H * D, qk_width},
                   {on_qkv + (shape_.H + shape_.K) * D, qkv_width}, on_positions, rows, shape_);
    if (!attend) return {};
    paged_attention<T>(device().stream, {out, shape_.H * D}, scratch, {on_qk, qk_width}, {cache_}, rows, shape_);
    scratch.host();  // checks its fence
    return out.host();
  }

  static int divided(int a, int b) { return (a + b - 1) / b; }
  static void append(std::vector<T>& to, const std::vector<T>& from, int64_t begin, int64_t end) {
    to.insert(to.end(), from.begin() + begin, from.begin() + end);
  }

  const Shape shape_;
  std::vector<int32_t> free_;
  OnDevice<T> cache_;
  std::map<const Sequence<T>*, std::vector<int32_t>> pages_;
  bool split_ = false;
};

// expected is the attention of the asked rows in float64.
template <class T>
std::vector<double> expected(const std::vector<Ask<T>>& asks, const Shape& shape) {
  std::vector<double> result;
  for (const Ask<T>& ask : asks) {
    const std::vector<double> qk = doubles(ask.sequence->qk), qkv = doubles(ask.sequence->qkv);
    const int64_t qk_width = (shape.H + shape.K) * shape.D;
    const ReferenceForward forward(columns(qk, qk_width, 0, shape.H, shape.D),
                                   columns(qk, qk_width, shape.H, shape.K, shape.D),
                                   columns(qkv, shape.qkv(), shape.H + shape.K, shape.K, shape.D), {0, ask.to});
    const int64_t width = shape.H * shape.D;
    result.insert(result.end(), forward.out.data.begin() + ask.from * width, forward.out.data.begin() + ask.to * width);
  }
  return result;
}

template <class T>
void check_decode(Random& random, const Shape& shape, const std::vector<int>& lengths) {
  Engine<T> engine(random, shape, 40);
  std::vector<Sequence<T>> sequences;
  for (int n : lengths) sequences.emplace_back(random, shape, n);
  std::vector<Ask<T>> asks;
  for (const Sequence<T>& s : sequences) asks.push_back({&s, s.length - 1, s.length});
  near(engine.tick(asks, true), expected(asks, shape), unit<T> + float_error, "decode", size);
}

template <class T>
std::vector<T> rows_of(const std::vector<T>& out, int from, int to, const Shape& shape) {
  const int64_t width = shape.H * shape.D;
  return {out.begin() + from * width, out.begin() + to * width};
}

}  // namespace

TEST(paged_decoding) {
  Random random = fresh();
  const std::vector<int> lengths = {1, 2, 63, 64, 65, 130, 300};
  check_decode<float>(random, shape_of(4, 2, 32), lengths);
  check_decode<bf16>(random, shape_of(4, 2, 32), lengths);
  check_decode<bf16>(random, shape_of(2, 1, 128), {129, 257});
  check_decode<float>(random, shape_of(2, 1, 128), {129, 257});
}

TEST(paged_head_dimensions_and_groups) {
  Random random = fresh();
  for (int64_t D : {2, 6, 64, 100}) {
    check_decode<float>(random, shape_of(2, 2, D), {140, 5});
    check_decode<bf16>(random, shape_of(2, 2, D), {140, 5});
  }
  check_decode<bf16>(random, shape_of(1, 1, 256), {70, 130});
  check_decode<float>(random, shape_of(2, 1, 200), {70});
  for (int64_t group : {1, 3, 4, 5, 8, 16, 40}) check_decode<bf16>(random, shape_of(group * 2, 2, 16), {140, 3});
}

// A chunk of a prompt, rows of several sequences in a tick, and one that decodes.
TEST(paged_chunks) {
  Random random = fresh();
  for (int64_t group : {1, 2, 4}) {
    const Shape shape = shape_of(2 * group, 2, 32);
    Engine<float> engine(random, shape, 40);
    const Sequence<float> a(random, shape, 200), b(random, shape, 67), c(random, shape, 129);
    const std::vector<Ask<float>> asks = {{&a, 90, 200}, {&b, 0, 67}, {&c, 128, 129}};
    near(engine.tick(asks, true), expected(asks, shape), float_error, "chunk", size);
  }
}

// A token's result is the same to the bit whether it was decoded or read in a chunk,
// in blocks of their own or one block, alone or in a batch, and whatever the bound of
// the lengths.
template <class T>
void check_invariance(Random& random, const Shape& shape) {
  const Sequence<T> a(random, shape, 270), b(random, shape, 3), c(random, shape, 129);
  Engine<T> chunks(random, shape, 20);
  const std::vector<T> chunk = chunks.tick({{&a, 0, 270}}, false);

  Engine<T> engine(random, shape, 20);
  for (int p : {0, 63, 64, 127, 128, 200, 269}) {
    const std::vector<T> alone = engine.tick({{&a, p, p + 1}}, true);
    expect(engine.split() == (p >= 128),
           "decoding of " + std::to_string(p + 1) + " keys has " + (engine.split() ? "" : "no ") + "parts");
    equal(alone, rows_of(chunk, p, p + 1, shape), "decoded and read in a chunk");
    equal(engine.tick({{&a, p, p + 1}}, false, 500), alone, "another bound of the lengths");
    const std::vector<T> batch = engine.tick({{&c, 128, 129}, {&a, p, p + 1}, {&b, 2, 3}}, true);
    equal(rows_of(batch, 1, 2, shape), alone, "in a batch");
  }
  const std::vector<T> piece = engine.tick({{&b, 1, 3}, {&a, 100, 205}}, true);
  equal(rows_of(piece, 2, 107, shape), rows_of(chunk, 100, 205, shape), "another chunk");
}

TEST(paged_attention_does_not_depend_on_the_batch) {
  Random random = fresh();
  check_invariance<float>(random, shape_of(4, 2, 16));
  check_invariance<bf16>(random, shape_of(4, 1, 64));
  check_invariance<bf16>(random, shape_of(6, 2, 6));
}

// Above split_bytes of results in memory a block keeps all parts of its rows.
TEST(paged_parts_in_one_block) {
  Random random = fresh();
  const Shape shape = shape_of(2, 1, 16);
  const Sequence<float> a(random, shape, 300);
  Engine<float> few(random, shape, 20), many(random, shape, 20);
  const std::vector<float> split = few.tick({{&a, 250, 300}}, true);
  expect(few.split(), "a short bound splits");
  const std::vector<float> kept = many.tick({{&a, 250, 300}}, true, 2000000);
  expect(!many.split(), "a long bound does not");
  equal(kept, split, "out");
}

TEST(paged_cache_holds_what_was_written) {
  Random random = fresh();
  const Shape shape = shape_of(2, 2, 6);
  Engine<bf16> engine(random, shape, 5);
  const Sequence<bf16> a(random, shape, 70), b(random, shape, 65);
  engine.tick({{&a, 0, 70}, {&b, 0, 65}}, false);
  const std::vector<bf16> cache = engine.cache();
  size_t written = 0;
  for (const Sequence<bf16>* s : {&a, &b})
    for (int p = 0; p < s->length; p++)
      for (int kind = 0; kind < 2; kind++)
        for (int kv = 0; kv < 2; kv++)
          for (int d = 0; d < 6; d++, written++) {
            const int64_t page = engine.pages(s)[p / page_tokens];
            const int64_t at = (((page * 2 + kind) * 2 + kv) * page_tokens + p % page_tokens) * 6 + d;
            const bf16 from = kind == 0 ? s->qk[p * 24 + 12 + kv * 6 + d] : s->qkv[p * 36 + 24 + kv * 6 + d];
            if (to_float(cache[at]) != to_float(from)) return fail("position " + std::to_string(p) + " of a page");
          }
  size_t left = 0;
  for (bf16 x : cache) left += std::isnan(to_float(x));
  expect(left == cache.size() - written, "slots beyond the sequences are written");
}

// A captured graph has room for more sequences than a tick has: those have no rows.
TEST(paged_sequences_without_rows) {
  Random random = fresh();
  const Shape shape = shape_of(2, 1, 16);
  const Sequence<float> a(random, shape, 140), b(random, shape, 9), c(random, shape, 12);
  Engine<float> engine(random, shape, 20);
  const std::vector<float> out = engine.tick({{&b, 9, 9}, {&a, 139, 140}, {&c, 12, 12}}, true);
  near(out, expected<float>({{&a, 139, 140}}, shape), float_error, "out", size);
}
