#include "check.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace millrace::test {

namespace {

struct Test {
  std::string file, name;
  void (*body)();
};

std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

const Test* running = nullptr;
int failures = 0;
uint64_t seed = 0;
std::unique_ptr<Device> the_device;

template <class T>
double number(T x) {
  if constexpr (sizeof(T) == 8)
    return x;
  else
    return to_float(x);
}

template <class T>
void compare(const std::vector<T>& actual, const std::vector<double>& expected, double tolerance, const char* what,
             double scale) {
  if (actual.size() != expected.size()) {
    return fail(std::string(what) + ": " + std::to_string(actual.size()) + " values, expected " +
                std::to_string(expected.size()));
  }
  size_t wrong = 0, worst = 0;
  double worst_error = -1;
  for (size_t i = 0; i < actual.size(); i++) {
    const double a = number(actual[i]), e = expected[i];
    double error = std::fabs(a - e) / std::fmax(std::fabs(e), scale);
    if (a == e) error = 0;  // infinities too
    if (std::isnan(error)) error = HUGE_VAL;
    wrong += error > tolerance;
    if (error > worst_error) worst_error = error, worst = i;
  }
  if (wrong == 0) return;
  char text[256];
  std::snprintf(text, sizeof text,
                "%s: %zu of %zu are off by more than %g; the worst is [%zu], %.9g, expected %.9g (%.3g)", what, wrong,
                actual.size(), tolerance, worst, number(actual[worst]), expected[worst], worst_error);
  fail(text);
}

}  // namespace

Registration::Registration(const char* file, const char* name, void (*body)()) {
  tests().push_back({file, name, body});
}

void fail(const std::string& text) {
  failures++;
  std::printf("FAIL %s: %s\n", running->name.c_str(), text.c_str());
}

void expect_error(Status status, const std::vector<std::string>& parts, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    const std::string text = error.what();
    expect(error.status == status, "status " + std::to_string(static_cast<int>(error.status)) + " of: " + text);
    for (const std::string& part : parts)
      expect(text.find(part) != std::string::npos, "no \"" + part + "\" in: " + text);
    return;
  }
  fail("no error");
}

void near(const std::vector<float>& actual, const std::vector<double>& expected, double tolerance, const char* what,
          double scale) {
  compare(actual, expected, tolerance, what, scale);
}
void near(const std::vector<bf16>& actual, const std::vector<double>& expected, double tolerance, const char* what,
          double scale) {
  compare(actual, expected, tolerance, what, scale);
}
void near(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance, const char* what,
          double scale) {
  compare(actual, expected, tolerance, what, scale);
}

void equal_bytes(const void* actual, const void* expected, size_t bytes, size_t item, const char* what) {
  const char* a = static_cast<const char*>(actual);
  const char* e = static_cast<const char*>(expected);
  for (size_t i = 0; i < bytes; i += item) {
    if (std::memcmp(a + i, e + i, item))
      return fail(std::string(what) + ": [" + std::to_string(i / item) + "] differs");
  }
}

Random fresh() { return Random(seed ^ std::hash<std::string>()(running->name)); }

const Device& device() { return *the_device; }

namespace {

int run(int count, char** names) {
  const char* text = std::getenv("MILLRACE_SEED");
  seed = text ? std::strtoull(text, nullptr, 10)
              : static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  try {
    the_device = std::make_unique<Device>(0);
  } catch (const Error& error) {
    std::printf("no test can run: %s\n", error.what());
    return 1;
  }
  std::printf("seed %llu on %s\n", static_cast<unsigned long long>(seed), the_device->name.c_str());
  int ran = 0, failed = 0;
  for (const Test& test : tests()) {
    bool chosen = count == 0;
    for (int i = 0; i < count; i++) chosen = chosen || test.name.find(names[i]) != std::string::npos;
    if (!chosen) continue;
    running = &test;
    failures = 0;
    try {
      test.body();
      the_device->synchronize();
    } catch (const std::exception& error) {
      fail(error.what());
    }
    ran++;
    failed += failures != 0;
    std::printf("%s %s\n", failures ? "FAIL" : "ok  ", test.name.c_str());
    std::fflush(stdout);
  }
  the_device.reset();
  std::printf("%d tests, %d failed; seed %llu\n", ran, failed, static_cast<unsigned long long>(seed));
  return failed != 0 || ran == 0;
}

}  // namespace

}  // namespace millrace::test

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  return millrace::test::run(argc - 1, argv + 1);
}
