// The roundings of Hugging Face's implementation for the tests' references, written
// apart from number.h: by scaling to whole numbers instead of by bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "check.h"

namespace millrace::test {

// round_to is the T nearest to x, halves to even. In format float a reference stays in
// float64.
template <class T>
double round_to(double x);
template <>
inline double round_to<float>(double x) {
  return x;
}
template <>
inline double round_to<bf16>(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  constexpr int digits = 8, least_exponent = -126;
  const double ulp = std::ldexp(1.0, std::max(std::ilogb(x), least_exponent) - (digits - 1));
  return std::nearbyint(x / ulp) * ulp;
}

// through_float is x as a float computation holds it before it is rounded to T: in
// format bf16 the two roundings in a row are part of the result.
template <class T>
double through_float(double x) {
  return sizeof(T) == 2 ? round_to<T>(static_cast<float>(x)) : x;
}

// matches checks a forward pass: in format bf16 every bit, given a reference with the
// same roundings, and in format float 1e-6 relative to the larger of value and scale.
inline void matches(const std::vector<float>& actual, const std::vector<double>& expected, const char* what,
                    double scale = 1) {
  near(actual, expected, 1e-6, what, scale);
}
inline void matches(const std::vector<bf16>& actual, const std::vector<double>& expected, const char* what,
                    double = 1) {
  near(actual, expected, 0, what);
}

// close_gradient checks a backward pass, which is float arithmetic and one rounding to
// T. Float's part is 4e-6 of the larger of the value and 1: some 30 roundings of terms
// of that size, which may cancel.
template <class T>
void close_gradient(const std::vector<T>& actual, const std::vector<double>& expected, const char* what) {
  for (size_t i = 0; i < expected.size(); i++) {
    const double a = to_float(actual[i]), e = std::fabs(expected[i]);
    const double allowed = 4e-6 * std::fmax(1, e) + (sizeof(T) == 2 ? unit<T> * e : 0);
    if (std::fabs(a - expected[i]) <= allowed) continue;
    return fail(std::string(what) + ": [" + std::to_string(i) + "] is " + std::to_string(a) + ", expected " +
                std::to_string(expected[i]));
  }
}

}  // namespace millrace::test
