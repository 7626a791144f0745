// The emulated devices: an H200's numbers, except its memory.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "include/cuda_runtime.h"
#include "kernel_name.h"
#include "memory.h"
#include "stream.h"

using namespace emulator;

namespace {

constexpr int processors = 132, most_threads = 1024;
constexpr size_t shared_default = 48 << 10, shared_most = 227 << 10, shared_of_processor = 228 << 10;
constexpr int cuda_version = 13000;

thread_local int current = 0;

int devices() {
  const char* text = std::getenv("MILLRACE_EMULATOR_DEVICES");
  return text ? std::atoi(text) : 1;
}

cudaError_t exists(int device) {
  if (devices() == 0) return cudaErrorNoDevice;
  return device < 0 || device >= devices() ? cudaErrorInvalidDevice : cudaSuccess;
}

// What each kernel may ask for in dynamic shared memory, where it was raised.
struct Raised {
  std::mutex mutex;
  std::map<const void*, size_t> limit;
};
Raised raised;

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
#define NAME(e) \
  case e: return #e
  switch (error) {
    NAME(cudaSuccess);
    NAME(cudaErrorInvalidValue);
    NAME(cudaErrorMemoryAllocation);
    NAME(cudaErrorInvalidConfiguration);
    NAME(cudaErrorInvalidMemcpyDirection);
    NAME(cudaErrorInsufficientDriver);
    NAME(cudaErrorNoDevice);
    NAME(cudaErrorInvalidDevice);
    NAME(cudaErrorNoKernelImageForDevice);
    NAME(cudaErrorUnsupportedPtxVersion);
    NAME(cudaErrorInvalidResourceHandle);
    NAME(cudaErrorNotReady);
    NAME(cudaErrorIllegalAddress);
    NAME(cudaErrorLaunchFailure);
    NAME(cudaErrorNotPermitted);
    NAME(cudaErrorNotSupported);
    NAME(cudaErrorStreamCaptureUnsupported);
    NAME(cudaErrorStreamCaptureInvalidated);
    NAME(cudaErrorUnknown);
  }
#undef NAME
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorInsufficientDriver: return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated: return "operation failed due to a previous error during capture";
    default: return cudaGetErrorName(error);
  }
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = devices();
  return *count ? cudaSuccess : failed(cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int* device) {
  if (cudaError_t error = exists(current)) return failed(error);
  *device = current;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (cudaError_t error = exists(device)) return failed(error);
  current = device;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (cudaError_t error = exists(device)) return failed(error);
  *properties = cudaDeviceProp{};
  std::snprintf(properties->name, sizeof properties->name, "emulated H200");
  properties->totalGlobalMem = memory_limit();
  properties->sharedMemPerBlock = shared_default;
  properties->sharedMemPerBlockOptin = shared_most;
  properties->sharedMemPerMultiprocessor = shared_of_processor;
  properties->regsPerBlock = 65536;
  properties->warpSize = warpSize;
  properties->maxThreadsPerBlock = most_threads;
  properties->multiProcessorCount = processors;
  properties->major = 9;
  properties->minor = 0;
  properties->l2CacheSize = 50 << 20;
  properties->maxGridSize[0] = 2147483647;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (cudaError_t error = exists(device)) return failed(error);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = most_threads; break;
    case cudaDevAttrMultiProcessorCount: *value = processors; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = shared_of_processor; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = shared_most; break;
  }
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = devices() ? cuda_version : 0;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = cuda_version;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || static_cast<size_t>(value) > shared_most) return failed(cudaErrorInvalidValue);
  std::lock_guard<std::mutex> lock(raised.mutex);
  raised.limit[kernel] = static_cast<size_t>(value);
  return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  static thread_local std::string text;
  text = kernel_name(kernel);
  *name = text.c_str();
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads, size_t shared) {
  if (threads <= 0 || threads > most_threads) return failed(cudaErrorInvalidValue);
  *blocks = 2048 / threads;
  if (shared) *blocks = std::min(*blocks, static_cast<int>(shared_of_processor / (shared + 1024)));
  return cudaSuccess;
}

cudaError_t emulator::launch(const cudaLaunchConfig_t& config, const void* kernel, std::function<void()> thread) {
  const dim3 grid = config.gridDim, block = config.blockDim;
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (cudaError_t error = exists(current)) return failed(error);
  if (grid.x == 0 || grid.x > 2147483647 || grid.y == 0 || grid.y > 65535 || grid.z == 0 || grid.z > 65535) {
    return failed(cudaErrorInvalidConfiguration);
  }
  if (threads == 0 || threads > most_threads || block.z > 64) return failed(cudaErrorInvalidConfiguration);
  size_t limit = shared_default;
  {
    std::lock_guard<std::mutex> lock(raised.mutex);
    auto at = raised.limit.find(kernel);
    if (at != raised.limit.end()) limit = std::max(limit, at->second);
  }
  if (config.dynamicSmemBytes > limit) return failed(cudaErrorInvalidValue);
  Launch work{std::move(thread), kernel, grid, block, config.dynamicSmemBytes};
  return submit(config.stream, [work = std::move(work)] { run(work); });
}
