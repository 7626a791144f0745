#include "attention_pack.h"

using namespace millrace;
using namespace millrace::test;

#if defined(MILLRACE_EMULATOR)

TEST(cudnn_is_unavailable_without_a_gpu) {
  expect_error(Status::unavailable, {"cuDNN"}, [] { cudnn_attention(device(), shape_of(2, 1, 64)); });
}

#else

// cuDNN rounds weights and their gradients to bf16 before it multiplies by them.
constexpr double rounded_weights = 4 * unit<bf16>;

TEST(cudnn_of_ragged_packs) {
  Random random = fresh();
  for (int64_t group : {1, 2, 4}) {
    const Shape shape = shape_of(2 * group, 2, 128);
    const auto attention = cudnn_attention(device(), shape);
    expect(std::string(attention->name()).find("cudnn ") == 0, "name");
    check_pack<bf16>(*attention, rounded_weights, random, shape, {1, 2, 63, 64, 65, 130});
    check_pack<bf16>(*attention, rounded_weights, random, shape, {300});
    check_pack<bf16>(*attention, rounded_weights, random, shape, {5, 1, 1});
  }
  const Shape narrow = shape_of(4, 2, 64);
  check_pack<bf16>(*cudnn_attention(device(), narrow), rounded_weights, random, narrow, {70, 3});
}

TEST(cudnn_of_other_head_dimensions) {
  expect_error(Status::unavailable, {"multiple of 16", "24"}, [] { cudnn_attention(device(), shape_of(2, 1, 24)); });
}

#endif
