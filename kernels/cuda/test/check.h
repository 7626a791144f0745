// The tests' harness: fresh random inputs from a seed that is printed, outputs
// poisoned before, and comparisons that say where they fail.
//
//   TEST(rms_norm_of_a_row) {
//     Random random = fresh();
//     ...
//     near(out.host(), expected, 1e-6, "out");
//   }
//
// A test binary runs all of its tests, or those whose names contain an argument. The
// environment's MILLRACE_SEED repeats a run.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "device.h"
#include "number.h"

namespace millrace::test {

struct Registration {
  Registration(const char* file, const char* name, void (*body)());
};

#define TEST(name)                                                                        \
  static void name();                                                                     \
  static const ::millrace::test::Registration name##_registration(__FILE__, #name, name); \
  static void name()

// fail counts a failure of the running test and prints the text.
void fail(const std::string& text);
inline void expect(bool condition, const std::string& text) {
  if (!condition) fail(text);
}
// expect_error checks that body throws Error of a status whose text holds each part.
void expect_error(Status status, const std::vector<std::string>& parts, const std::function<void()>& body);

// near checks each |actual - expected| <= tolerance * max(|expected|, scale): relative,
// and absolute where values are below scale. scale is 1 unless told, and tolerance 0
// demands equality. NaN is near nothing.
void near(const std::vector<float>& actual, const std::vector<double>& expected, double tolerance, const char* what,
          double scale = 1);
void near(const std::vector<bf16>& actual, const std::vector<double>& expected, double tolerance, const char* what,
          double scale = 1);
void near(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance, const char* what,
          double scale = 1);

// equal checks every bit.
void equal_bytes(const void* actual, const void* expected, size_t bytes, size_t item, const char* what);
template <class T>
void equal(const std::vector<T>& actual, const std::vector<T>& expected, const char* what) {
  if (actual.size() != expected.size()) return fail(std::string(what) + ": sizes differ");
  equal_bytes(actual.data(), expected.data(), actual.size() * sizeof(T), sizeof(T), what);
}

// unit is half the distance of 1 to the next number: what one rounding may do.
template <class T>
constexpr double unit = sizeof(T) == 2 ? 1.0 / 256 : 1.0 / (1 << 24);

// Random numbers. Those of a format T are rounded to it, so that a reference in
// float64 starts from the same numbers.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  double normal() { return normal_(engine_); }
  double uniform(double low, double high) {
    return low + (high - low) * std::uniform_real_distribution<double>()(engine_);
  }
  int64_t integer(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }  // both inclusive
  template <class T>
  std::vector<T> normals(size_t n, double scale = 1) {
    std::vector<T> values(n);
    for (T& v : values) v = from_float<T>(static_cast<float>(scale * normal()));
    return values;
  }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
};

// fresh is a generator seeded by the run's seed and the test's name.
Random fresh();

// doubles are the exact values.
template <class T>
std::vector<double> doubles(const std::vector<T>& values) {
  std::vector<double> result(values.size());
  for (size_t i = 0; i < values.size(); i++) result[i] = static_cast<double>(to_float(values[i]));
  return result;
}

// device is the one the tests run on.
const Device& device();

// OnDevice is a vector of the device, made from one of the host or, by poisoned, full
// of NaN (and of -1 as an integer), with a fence behind that host() checks.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : OnDevice(values.size()) {
    buffer_.write(device().stream, values.data(), values.size());
    device().synchronize();
  }
  static OnDevice poisoned(size_t n) { return OnDevice(n); }

  operator T*() const { return buffer_.data(); }
  T* data() const { return buffer_.data(); }
  size_t size() const { return size_; }

  std::vector<T> host() const {
    std::vector<T> all(size_ + fence);
    buffer_.read(device().stream, all.data(), all.size());
    device().synchronize();
    const unsigned char* behind = reinterpret_cast<const unsigned char*>(all.data() + size_);
    for (size_t i = 0; i < fence * sizeof(T); i++) {
      if (behind[i] != 0xff) {
        fail("written past the end, at value " + std::to_string(size_ + i / sizeof(T)) + " of " +
             std::to_string(size_));
        break;
      }
    }
    all.resize(size_);
    return all;
  }

 private:
#ifdef __SANITIZE_ADDRESS__
  static constexpr size_t fence = 0;  // the sanitizer sees reads past the end as well
#else
  static constexpr size_t fence = 64;  // values
#endif

  explicit OnDevice(size_t n) : buffer_(device(), n + fence, "a test's buffer"), size_(n) {
    check(cudaMemsetAsync(buffer_.data(), 0xff, buffer_.size() * sizeof(T), device().stream), "poisoning a buffer");
  }

  Buffer<T> buffer_;
  size_t size_;
};

template <class T>
OnDevice<T> poisoned(size_t n) {
  return OnDevice<T>::poisoned(n);
}

}  // namespace millrace::test
