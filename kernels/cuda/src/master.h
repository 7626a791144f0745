// The float32 master of a bf16 weight, kept as the bf16 the policy computes with and
// 16 bits more. Let m be the master's bits. Then
//
//	remainder = m mod 2^16
//	weight    = (m + 2^15) div 2^16                              (split)
//	m         = weight*2^16 + remainder - (remainder >= 2^15 ? 2^16 : 0)   (join)
//
// Join undoes split: write m = u*2^16 + remainder. If remainder < 2^15, weight is u
// and join gives m; else weight is u+1, and join takes the 2^16 away again. Split
// undoes join: the sum it divides is weight*2^16 + r + 2^15, where r, the remainder as
// a signed number, is in [-2^15, 2^15). So pairs and masters are the same 2^32 things
// in both directions, up to NaN below.
//
// The weight is the nearest bf16 of the master, with halves rounded away from zero:
// bits are sign and magnitude, so the sum moves away from zero for either sign, it
// carries from the significand into the exponent as rounding does, and from the
// largest bf16 to infinity. Halves cannot be rounded to even, as a conversion to bf16
// rounds them: both halves beside an even bf16 would be its own, so 2^16 + 1 masters
// would share 2^16 remainders. One master in 2^16 is such a half, and its weight is half
// a bf16 ulp away either way.
//
// A master that is NaN has the weight NaN: it is made the NaN of bits 0x7fc00000
// first, since the sum would carry others into the sign.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <cstring>

#include "number.h"

namespace millrace {

// Master is a float32 in its two parts.
struct Master {
  bf16 weight;
  uint16_t remainder;
};

// same_bits is x read as another type.
template <class To, class From>
__host__ __device__ inline To same_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "the types have the same size");
  To result;
  memcpy(static_cast<void*>(&result), &x, sizeof x);
  return result;
}

__host__ __device__ inline Master split_master(float master) {
  const uint32_t m = master == master ? same_bits<uint32_t>(master) : 0x7fc00000u;
  return {same_bits<bf16>(static_cast<uint16_t>((m + 0x8000u) >> 16)), static_cast<uint16_t>(m)};
}

__host__ __device__ inline float join_master(bf16 weight, uint16_t remainder) {
  const uint32_t upper = uint32_t{same_bits<uint16_t>(weight)} << 16;
  return same_bits<float>(upper + remainder - (remainder >= 0x8000u ? 0x10000u : 0u));
}

}  // namespace millrace
