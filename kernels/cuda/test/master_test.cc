#include <limits>

#include "check.h"
#include "master.h"
#include "rounding.h"

namespace millrace::test {
namespace {

// Upper halves of a float32: zeros, the smallest and largest subnormals, the normals
// beside them, one and its neighbours (odd and even), the largest that are finite, and
// infinity, of both signs.
std::vector<uint32_t> uppers() {
  std::vector<uint32_t> all = {0x0000, 0x0001, 0x0002, 0x007e, 0x007f, 0x0080, 0x0081, 0x3f7f,
                               0x3f80, 0x3f81, 0x3f82, 0x42aa, 0x7f7e, 0x7f7f, 0x7f80};
  for (size_t i = 0, n = all.size(); i < n; i++) all.push_back(all[i] | 0x8000);
  return all;
}

std::string hex(uint32_t bits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", bits);
  return text;
}

// Every lower half behind every one of them.
TEST(master_is_exact_and_its_weight_the_nearest) {
  for (const uint32_t upper : uppers()) {
    for (uint32_t lower = 0; lower < 0x10000; lower++) {
      const uint32_t bits = upper << 16 | lower;
      const float x = same_bits<float>(bits);
      if (std::isnan(x)) continue;
      const Master master = split_master(x);
      if (same_bits<uint32_t>(join_master(master.weight, master.remainder)) != bits) return fail("lost: " + hex(bits));

      const double weight = to_float(master.weight), even = round_to<bf16>(x);
      const double below = same_bits<float>(upper << 16);
      const bool beyond = (upper & 0x7fff) == 0x7f7f;  // the next bf16 is infinity
      const double above = beyond ? std::copysign(std::ldexp(1.0, 128), x) : same_bits<float>((upper + 1) << 16);
      const bool tie = !std::isinf(x) && x - below == above - x;
      if (tie) {
        if (weight != same_bits<float>((upper + 1) << 16)) return fail("a half rounded towards zero: " + hex(bits));
      } else if (beyond && std::fabs(even) > std::numeric_limits<float>::max()) {
        if (!std::isinf(weight) || (weight < 0) != (x < 0)) return fail("not infinite: " + hex(bits));
      } else if (weight != even || std::signbit(weight) != std::signbit(x)) {
        return fail("not the nearest: " + hex(bits));
      }
    }
  }
}

// Every pair of a weight that is not NaN, except the halves that only a NaN would have.
TEST(master_of_every_pair_splits_into_it) {
  for (const uint32_t weight : uppers()) {
    for (uint32_t remainder = 0; remainder < 0x10000; remainder++) {
      const float x = join_master(same_bits<bf16>(static_cast<uint16_t>(weight)), static_cast<uint16_t>(remainder));
      if (std::isnan(x)) {
        const bool infinite = (weight & 0x7fff) == 0x7f80, below_zero = (weight & 0x7fff) == 0;
        expect(infinite || below_zero, "NaN of weight " + hex(weight));
        continue;
      }
      const Master master = split_master(x);
      if (same_bits<uint16_t>(master.weight) != weight || master.remainder != remainder) {
        return fail("weight " + hex(weight) + " with " + hex(remainder) + " gives another pair");
      }
    }
  }
}

TEST(master_of_random_bits_is_exact) {
  Random random = fresh();
  for (int i = 0; i < 1 << 20; i++) {
    const auto bits = static_cast<uint32_t>(random.integer(0, 0xffffffff));
    const float x = same_bits<float>(bits);
    const Master master = split_master(x);
    const float joined = join_master(master.weight, master.remainder);
    const bool kept = std::isnan(x) ? std::isnan(joined) && std::isnan(to_float(master.weight))
                                    : same_bits<uint32_t>(joined) == bits;
    if (!kept) return fail("lost: " + hex(bits));
  }
}

// What a published bf16 weight starts from.
TEST(master_of_a_bf16_has_no_remainder) {
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const bf16 weight = same_bits<bf16>(static_cast<uint16_t>(bits));
    if (std::isnan(to_float(weight))) continue;
    const Master master = split_master(to_float(weight));
    expect(same_bits<uint16_t>(master.weight) == bits && master.remainder == 0, "remainder of " + hex(bits));
  }
}

TEST(master_that_is_nan_stays_nan) {
  for (const uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu}) {
    const Master master = split_master(same_bits<float>(bits));
    expect(std::isnan(to_float(master.weight)), "weight of " + hex(bits));
    expect(std::isnan(join_master(master.weight, master.remainder)), "master of " + hex(bits));
  }
}

}  // namespace
}  // namespace millrace::test
