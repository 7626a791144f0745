// A stand-in for CUDA's header of this name: the format, its conversions and pairs. It
// has no arithmetic, since kernels compute in float.
#pragma once

#include "cuda_runtime.h"

// The upper half of a float's bits.
struct __nv_bfloat16 {
  unsigned short __x;

  __nv_bfloat16() = default;
  inline explicit __nv_bfloat16(float x);
  inline explicit operator float() const;
};

inline float __bfloat162float(__nv_bfloat16 x) { return __uint_as_float(static_cast<unsigned>(x.__x) << 16); }

// Round to nearest, half to even: adding 0x7fff carries into the upper half when the
// lower is above one half, and the upper half's last bit makes a tie carry when it is
// odd. Infinity is kept and every NaN is 0x7fff, as the device has it.
inline __nv_bfloat16 __float2bfloat16_rn(float x) {
  __nv_bfloat16 result;
  unsigned bits = __float_as_uint(x);
  result.__x = x != x ? 0x7fff : static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  return result;
}
inline __nv_bfloat16 __float2bfloat16(float x) { return __float2bfloat16_rn(x); }
inline __nv_bfloat16 __float2bfloat16_rz(float x) {
  __nv_bfloat16 result;
  result.__x = x != x ? 0x7fff : static_cast<unsigned short>(__float_as_uint(x) >> 16);
  return result;
}
inline __nv_bfloat16::__nv_bfloat16(float x) { *this = __float2bfloat16_rn(x); }
inline __nv_bfloat16::operator float() const { return __bfloat162float(*this); }

inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) {
  __nv_bfloat16 result;
  result.__x = x;
  return result;
}

struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {__bfloat162float(v.x), __bfloat162float(v.y)}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
inline float __low2float(__nv_bfloat162 v) { return __bfloat162float(v.x); }
inline float __high2float(__nv_bfloat162 v) { return __bfloat162float(v.y); }
