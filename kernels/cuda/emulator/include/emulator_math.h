// Arithmetic of device code: CUDA's intrinsics, with the host's functions. An
// approximate intrinsic (__expf) is here the exact function: tests allow for the
// difference.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

using std::isfinite, std::isinf, std::isnan;

inline float __expf(float x) { return std::exp(x); }
inline float __exp10f(float x) { return std::pow(10.0f, x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1 / x; }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1 / std::sqrt(static_cast<double>(x))); }
inline float rsqrtf(float x) { return __frsqrt_rn(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline float __tanhf(float x) { return std::tanh(x); }

// The _rn products and sums are never contracted into one rounding, and __fmaf_rn
// always is.
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
__attribute__((noinline)) inline float __fmul_rn(float x, float y) { return x * y; }
__attribute__((noinline)) inline float __fadd_rn(float x, float y) { return x + y; }
__attribute__((noinline)) inline float __fsub_rn(float x, float y) { return x - y; }
__attribute__((noinline)) inline double __dmul_rn(double x, double y) { return x * y; }
__attribute__((noinline)) inline double __dadd_rn(double x, double y) { return x + y; }
__attribute__((noinline)) inline double __dsub_rn(double x, double y) { return x - y; }
#pragma GCC pop_options
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return std::fma(x, y, z); }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __dsqrt_rn(double x) { return std::sqrt(x); }

// Conversions. Out of range they saturate and NaN is 0, as on the device.
namespace emulator {
template <class To, class From>
To saturated(From x) {
  constexpr bool is_signed = static_cast<To>(-1) < To{0};
  constexpr int digits = 8 * sizeof(To) - (is_signed ? 1 : 0);
  const From limit = std::ldexp(From{1}, digits);
  const To most = static_cast<To>(~uint64_t{0} >> (64 - digits));
  if (x != x) return 0;
  if (x >= limit) return most;
  if (is_signed && x < -limit) return static_cast<To>(-most - 1);
  if (!is_signed && x < 0) return 0;
  return static_cast<To>(x);
}
}  // namespace emulator
inline int __float2int_rn(float x) { return emulator::saturated<int>(std::nearbyint(x)); }
inline int __float2int_rz(float x) { return emulator::saturated<int>(std::trunc(x)); }
inline int __float2int_rd(float x) { return emulator::saturated<int>(std::floor(x)); }
inline int __float2int_ru(float x) { return emulator::saturated<int>(std::ceil(x)); }
inline unsigned __float2uint_rn(float x) { return emulator::saturated<unsigned>(std::nearbyint(x)); }
inline unsigned __float2uint_rz(float x) { return emulator::saturated<unsigned>(std::trunc(x)); }
inline unsigned long long __float2ull_rn(float x) { return emulator::saturated<unsigned long long>(std::nearbyint(x)); }
inline int __double2int_rz(double x) { return emulator::saturated<int>(std::trunc(x)); }
inline long long __double2ll_rn(double x) { return emulator::saturated<long long>(std::nearbyint(x)); }
inline long long __double2ll_rz(double x) { return emulator::saturated<long long>(std::trunc(x)); }
inline unsigned long long __double2ull_rz(double x) { return emulator::saturated<unsigned long long>(std::trunc(x)); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }

// Bits.
namespace emulator {
template <class To, class From>
To reinterpret(From x) {
  static_assert(sizeof(To) == sizeof(From), "the same number of bits");
  To result;
  std::memcpy(&result, &x, sizeof x);
  return result;
}
}  // namespace emulator
inline unsigned __float_as_uint(float x) { return emulator::reinterpret<unsigned>(x); }
inline int __float_as_int(float x) { return emulator::reinterpret<int>(x); }
inline float __uint_as_float(unsigned x) { return emulator::reinterpret<float>(x); }
inline float __int_as_float(int x) { return emulator::reinterpret<float>(x); }
inline long long __double_as_longlong(double x) { return emulator::reinterpret<long long>(x); }
inline double __longlong_as_double(long long x) { return emulator::reinterpret<double>(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline unsigned __umulhi(unsigned x, unsigned y) { return static_cast<unsigned>((uint64_t{x} * y) >> 32); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64);
}

// CUDA's min and max; of floats, the one that is not NaN.
inline int min(int a, int b) { return b < a ? b : a; }
inline int max(int a, int b) { return a < b ? b : a; }
inline unsigned min(unsigned a, unsigned b) { return b < a ? b : a; }
inline unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
inline long min(long a, long b) { return b < a ? b : a; }
inline long max(long a, long b) { return a < b ? b : a; }
inline unsigned long min(unsigned long a, unsigned long b) { return b < a ? b : a; }
inline unsigned long max(unsigned long a, unsigned long b) { return a < b ? b : a; }
inline long long min(long long a, long long b) { return b < a ? b : a; }
inline long long max(long long a, long long b) { return a < b ? b : a; }
inline unsigned long long min(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
inline unsigned long long max(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }

// Loads and stores with cache hints.
template <class T>
T __ldg(const T* at) { return *at; }
template <class T>
T __ldcs(const T* at) { return *at; }
template <class T>
T __ldcg(const T* at) { return *at; }
template <class T>
T __ldca(const T* at) { return *at; }
template <class T>
void __stcs(T* at, T x) { *at = x; }
template <class T>
void __stcg(T* at, T x) { *at = x; }
template <class T>
void __stwt(T* at, T x) { *at = x; }
