// What the C ABI's handles are, and how a call is run.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>

#include "device.h"
#include "engine.h"
#include "gemm.h"
#include "millrace_cuda.h"
#include "policy.h"
#include "turn.h"

struct mr_device {
  explicit mr_device(int ordinal) : device(ordinal), gemm(device) {}

  millrace::Device device;
  millrace::Gemm gemm;
  millrace::Turn turn;  // held by every call on the device
  int policies = 0, engines = 0;
};

struct mr_policy {
  mr_device* device;
  std::unique_ptr<millrace::Policy> policy;
};

struct mr_engine {
  mr_device* device;
  std::unique_ptr<millrace::Engine> engine;
};

namespace millrace {

template <size_t n>
void put(char (&to)[n], const char* text) {
  const size_t length = std::min(std::strlen(text), n - 1);
  std::memcpy(to, text, length);
  to[length] = 0;
}

// guarded runs body and writes the report: nothing that body throws goes further.
template <class Body>
void guarded(mr_report& report, Body body) {
  report.status = MR_OK;
  report.text[0] = 0;
  try {
    body();
  } catch (const Error& e) {
    report.status = static_cast<int32_t>(e.status);
    put(report.text, e.what());
  } catch (const std::bad_alloc&) {
    report.status = MR_INTERNAL;
    put(report.text, "the host's memory is full");
  } catch (const std::exception& e) {
    report.status = MR_INTERNAL;
    put(report.text, e.what());
  } catch (...) {
    report.status = MR_INTERNAL;
    put(report.text, "an unknown failure");
  }
}

// in_turn runs body with the device as the thread's own.
template <class Body>
void in_turn(mr_report& report, mr_device* device, Body body) {
  guarded(report, [&] {
    if (!device) throw Error(Status::invalid, "there is no device");
    std::lock_guard<Turn> turn(device->turn);
    device->device.use();
    body();
  });
}

template <class Call, class Body>
void with_policy(Call* call, Body body) {
  in_turn(call->report, call->policy ? call->policy->device : nullptr, [&] { body(*call->policy->policy); });
}

}  // namespace millrace
