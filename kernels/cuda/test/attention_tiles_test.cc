#include "attention_pack.h"

using namespace millrace;
using namespace millrace::test;

namespace {

template <class T>
void check_tiles(Random& random, const Shape& shape, const std::vector<int>& lengths) {
  check_pack<T>(*tiled_attention<T>(device(), shape), float_error, random, shape, lengths);
}

}  // namespace

TEST(tiles_of_ragged_packs) {
  Random random = fresh();
  check_tiles<float>(random, shape_of(4, 2, 32), {1, 2, 63, 64, 65, 130});
  check_tiles<bf16>(random, shape_of(4, 2, 32), {130, 65, 1});
}

TEST(tiles_of_head_dimensions) {
  Random random = fresh();
  for (int64_t D : {2, 6, 64, 100, 128}) {
    check_tiles<float>(random, shape_of(2, 1, D), {70, 3});
    check_tiles<bf16>(random, shape_of(2, 1, D), {33, 40});
  }
  check_tiles<float>(random, shape_of(1, 1, 256), {35});
  check_tiles<bf16>(random, shape_of(1, 1, 200), {35});
}

TEST(tiles_of_groups) {
  Random random = fresh();
  check_tiles<float>(random, shape_of(3, 3, 16), {20, 66});
  check_tiles<float>(random, shape_of(8, 2, 16), {20, 66});
  check_tiles<bf16>(random, shape_of(6, 2, 16), {20, 66});
}

// The maximum of a row moves from tile to tile, and scores are far beyond what exp of
// a float32 holds.
TEST(tiles_of_large_scores) {
  Random random = fresh();
  const Shape shape = shape_of(1, 1, 16);
  Pack<float> pack(random, shape, {150});
  for (float& x : pack.qk) x *= 30;
  pack.on_qk = OnDevice<float>(pack.qk);
  const auto attention = tiled_attention<float>(device(), shape);
  attention->forward(pack.out(), pack.on_lse, pack.q(), pack.k(), pack.v(), pack.packed);
  const ReferenceForward forward(pack.q64(), pack.k64(), pack.v64(), pack.starts);
  // Scores reach some thousands: float32 holds them, and so the exponent of a weight, to
  // about 1e-3.
  near(pack.on_out.host(), forward.out.data, 1e-2, "out");
  near(pack.on_lse.host(), forward.lse, float_error, "lse");
}

// What a sequence gets depends on it alone.
TEST(tiles_do_not_depend_on_the_pack) {
  Random random = fresh();
  const Shape shape = shape_of(4, 2, 32);
  Pack<bf16> pack(random, shape, {70, 100});
  const auto attention = tiled_attention<bf16>(device(), shape);
  attention->forward(pack.out(), pack.on_lse, pack.q(), pack.k(), pack.v(), pack.packed);

  Pack<bf16> alone(random, shape, {100});
  alone.on_qk = OnDevice<bf16>({pack.qk.begin() + 70 * pack.qk_width, pack.qk.end()});
  alone.on_qkv = OnDevice<bf16>({pack.qkv.begin() + 70 * pack.qkv_width, pack.qkv.end()});
  attention->forward(alone.out(), alone.on_lse, alone.q(), alone.k(), alone.v(), alone.packed);
  const std::vector<bf16> out = pack.on_out.host();
  equal(alone.on_out.host(), std::vector<bf16>(out.begin() + 70 * pack.out_width, out.end()), "out");
}

TEST(tiles_of_impossible_shapes) {
  for (const Shape& shape : {shape_of(4, 3, 32), shape_of(4, 2, 258), shape_of(0, 0, 32)})
    expect_error(Status::invalid, {std::to_string(shape.H) + " query heads", std::to_string(shape.D)},
                 [&] { tiled_attention<float>(device(), shape); });
}
