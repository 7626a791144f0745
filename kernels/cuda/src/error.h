// Failures inside the library are exceptions; abi.cc turns each into a status and
// a text, and none crosses the C ABI.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace millrace {

// Status is what a call of the C ABI returns. The numbers are part of the ABI.
enum class Status : int32_t {
  ok = 0,
  invalid = 1,        // the caller's arguments
  unavailable = 2,    // a library, a driver or a capability is missing
  out_of_memory = 3,  // the device's; the process stays usable
  device = 4,         // the device failed: every later call on it fails too
};

class Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& text) : std::runtime_error(text), status(status) {}
  const Status status;
};

// check throws if a CUDA call failed; what says what was attempted, as in
// "copying the tokens".
void check(cudaError_t result, const char* what);

}  // namespace millrace
