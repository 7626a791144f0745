#include "error.h"

namespace millrace {

namespace {

Status status_of(cudaError_t result) {
  switch (result) {
    case cudaErrorMemoryAllocation: return Status::out_of_memory;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorNotSupported: return Status::unavailable;
    // These are found before anything is done: the device is unharmed.
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated: return Status::invalid;
    default: return Status::device;
  }
}

}  // namespace

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // so that no later call reports this one
  throw Error(status_of(result),
              std::string(what) + ": " + cudaGetErrorString(result) + " (" + cudaGetErrorName(result) + ")");
}

}  // namespace millrace
