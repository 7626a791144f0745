#include "device.h"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>

namespace millrace {

namespace {

// in_units is "3.2 GiB", or "17 bytes" below a KiB.
std::string in_units(size_t bytes) {
  static const char* const units[] = {"KiB", "MiB", "GiB", "TiB"};
  char text[32];
  if (bytes < 1024) {
    std::snprintf(text, sizeof text, "%zu bytes", bytes);
    return text;
  }
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit < 3; unit++) value /= 1024;
  std::snprintf(text, sizeof text, "%.1f %s", value, units[unit]);
  return text;
}

}  // namespace

Device::Device(int ordinal) : ordinal(ordinal) {
  check(cudaSetDevice(ordinal), ("using device " + std::to_string(ordinal)).c_str());
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, ordinal), "reading the device's properties");
  processors = properties.multiProcessorCount;
  capability = 10 * properties.major + properties.minor;
  shared_limit = properties.sharedMemPerBlockOptin;
  total_bytes = properties.totalGlobalMem;
  name = properties.name;
  if (capability < 80) {
    throw Error(Status::unavailable, name + " has compute capability " + std::to_string(properties.major) + "." +
                                         std::to_string(properties.minor) + ", and bf16 needs 8.0");
  }
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
}

Device::~Device() {
  cudaSetDevice(ordinal);
  cudaStreamDestroy(stream);
}

void Device::use() const { check(cudaSetDevice(ordinal), "choosing the device"); }

void Device::synchronize() const { check(cudaStreamSynchronize(stream), "waiting for the device"); }

size_t Device::free_bytes() const {
  size_t free, total;
  check(cudaMemGetInfo(&free, &total), "reading the free memory");
  return free;
}

void* allocate(const Device& device, size_t bytes, const char* what) {
  if (bytes == 0) return nullptr;
  void* data = nullptr;
  cudaError_t result = cudaMalloc(&data, bytes);
  if (result == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error(Status::out_of_memory, "out of device memory: " + in_units(bytes) + " asked for " + what + ", " +
                                           in_units(device.free_bytes()) + " of " + in_units(device.total_bytes) +
                                           " are free");
  }
  check(result, what);
  return data;
}

void throw_launch_error(cudaError_t result, const void* kernel) {
  const char* mangled = nullptr;
  std::string name = "a kernel";
  if (cudaFuncGetName(&mangled, kernel) == cudaSuccess && mangled) {
    int status;
    char* plain = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    name = status == 0 ? plain : mangled;
    std::free(plain);
  }
  check(result, ("launching " + name).c_str());
  std::abort();  // only failures come here
}

Arena::~Arena() { cudaFree(base_); }

void Arena::count() {
  counting_ = true;
  used_ = peak_ = 0;
}

void Arena::reserve(size_t bytes) {
  counting_ = false;
  used_ = peak_ = 0;
  if (bytes <= size_) return;
  // The old memory goes first: both may not fit.
  cudaFree(base_);
  base_ = nullptr;
  size_ = 0;
  base_ = static_cast<char*>(allocate(device_, bytes, what_));
  size_ = bytes;
}

void* Arena::take_bytes(size_t bytes) {
  constexpr size_t alignment = 256;
  const size_t at = used_;
  used_ += (bytes + alignment - 1) / alignment * alignment;
  if (used_ > peak_) peak_ = used_;
  if (counting_ || !base_) return nullptr;
  if (used_ > size_) {
    used_ = at;
    throw Error(Status::invalid, std::string(what_) + ": " + in_units(bytes) + " taken where " + in_units(size_ - at) +
                                     " of " + in_units(size_) + " are left: more than was counted");
  }
  return base_ + at;
}

}  // namespace millrace
