#include "memory.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "include/cuda_runtime_api.h"
#include "stream.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace emulator {

namespace {

constexpr size_t alignment = 256;     // as cudaMalloc's
constexpr size_t fence = 256;         // bytes before and after an allocation
constexpr unsigned char wood = 0xa5;  // what a fence is made of

struct Allocation {
  size_t bytes;
  int device;
};

struct Memory {
  std::mutex mutex;
  std::map<uintptr_t, Allocation> allocations;
  std::map<int, size_t> used;

  // find is the allocation that holds the address, or the end.
  std::map<uintptr_t, Allocation>::iterator find(const void* pointer) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
    auto at = allocations.upper_bound(address);
    if (at == allocations.begin()) return allocations.end();
    --at;
    return address < at->first + at->second.bytes ? at : allocations.end();
  }
};

// The memory outlives every static destructor that may free some of it.
Memory& memory() {
  static Memory* all = new Memory;
  return *all;
}

#ifdef __SANITIZE_ADDRESS__
void build_fence(unsigned char* at, size_t bytes) { __asan_poison_memory_region(at, bytes); }
void remove_fence(unsigned char* at, size_t bytes) { __asan_unpoison_memory_region(at, bytes); }
void check_fence(const unsigned char*, size_t, const char*, size_t) {}
#else
void build_fence(unsigned char* at, size_t bytes) { std::memset(at, wood, bytes); }
void remove_fence(unsigned char*, size_t) {}
void check_fence(const unsigned char* at, size_t n, const char* side, size_t bytes) {
  for (size_t i = 0; i < n; i++) {
    if (at[i] == wood) continue;
    std::fprintf(stderr, "device memory: something wrote %s the %s of an allocation of %zu bytes\n",
                 side[0] == 'e' ? "past" : "before", side, bytes);
    std::abort();
  }
}
#endif

size_t fence_after(size_t bytes) { return fence + (alignment - bytes % alignment) % alignment; }

void check_fences_of(uintptr_t address, size_t bytes) {
  const unsigned char* data = reinterpret_cast<const unsigned char*>(address);
  check_fence(data - fence, fence, "start", bytes);
  check_fence(data + bytes, fence_after(bytes), "end", bytes);
}

}  // namespace

size_t memory_limit() {
  const char* text = std::getenv("MILLRACE_EMULATOR_BYTES");
  return text ? std::strtoull(text, nullptr, 10) : size_t{2} << 30;
}

bool inside(const void* pointer, size_t bytes) {
  std::lock_guard<std::mutex> lock(memory().mutex);
  auto at = memory().find(pointer);
  return at != memory().allocations.end() &&
         reinterpret_cast<uintptr_t>(pointer) + bytes <= at->first + at->second.bytes;
}

bool on_device(const void* pointer) { return inside(pointer, 1); }

void check_fences() {
  std::lock_guard<std::mutex> lock(memory().mutex);
  for (const auto& at : memory().allocations) check_fences_of(at.first, at.second.bytes);
}

}  // namespace emulator

using namespace emulator;

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  int device;
  if (cudaError_t error = cudaGetDevice(&device)) return failed(error);
  if (any_capture()) return failed(cudaErrorStreamCaptureUnsupported);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  std::lock_guard<std::mutex> lock(memory().mutex);
  size_t& used = memory().used[device];
  if (bytes > memory_limit() || used > memory_limit() - bytes) return failed(cudaErrorMemoryAllocation);
  void* block = std::aligned_alloc(alignment, fence + bytes + fence_after(bytes));
  if (!block) return failed(cudaErrorMemoryAllocation);
  unsigned char* data = static_cast<unsigned char*>(block) + fence;
  std::memset(data, 0xff, bytes);  // NaN in every format, -1 as an index
  build_fence(data - fence, fence);
  build_fence(data + bytes, fence_after(bytes));
  used += bytes;
  memory().allocations[reinterpret_cast<uintptr_t>(data)] = {bytes, device};
  *pointer = data;
  return cudaSuccess;
}

cudaError_t cudaFree(void* pointer) {
  if (!pointer) return cudaSuccess;
  if (any_capture()) return failed(cudaErrorStreamCaptureUnsupported);
  std::lock_guard<std::mutex> lock(memory().mutex);
  auto at = memory().allocations.find(reinterpret_cast<uintptr_t>(pointer));
  if (at == memory().allocations.end()) return failed(cudaErrorInvalidValue);
  const size_t bytes = at->second.bytes;
  check_fences_of(at->first, bytes);
  unsigned char* data = static_cast<unsigned char*>(pointer);
  remove_fence(data - fence, fence + bytes + fence_after(bytes));
  memory().used[at->second.device] -= bytes;
  memory().allocations.erase(at);
  std::free(data - fence);
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) { return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault); }

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  *pointer = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  return *pointer || bytes == 0 ? cudaSuccess : failed(cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeHost(void* pointer) {
  std::free(pointer);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  int device;
  if (cudaError_t error = cudaGetDevice(&device)) return failed(error);
  std::lock_guard<std::mutex> lock(memory().mutex);
  *total = memory_limit();
  const size_t used = memory().used[device];
  *free = used < *total ? *total - used : 0;
  return cudaSuccess;
}

namespace {

// allowed checks one side of a copy.
cudaError_t allowed(const void* pointer, size_t bytes, bool device) {
  if (device) return inside(pointer, bytes) ? cudaSuccess : cudaErrorInvalidValue;
  return !pointer || on_device(pointer) ? cudaErrorInvalidValue : cudaSuccess;
}

}  // namespace

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (width > to_pitch || width > from_pitch) return failed(cudaErrorInvalidValue);
  const bool guess = kind == cudaMemcpyDefault;
  const bool to_device = guess ? on_device(to) : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = guess ? on_device(from) : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (cudaError_t error = allowed(to, (height - 1) * to_pitch + width, to_device)) return failed(error);
  if (cudaError_t error = allowed(from, (height - 1) * from_pitch + width, from_device)) return failed(error);
  return submit(stream, [=] {
    for (size_t row = 0; row < height; row++) {
      std::memmove(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
    }
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, bytes != 0, kind, stream);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (!inside(to, bytes)) return failed(cudaErrorInvalidValue);
  return submit(stream, [=] { std::memset(to, value, bytes); });
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) { return cudaMemsetAsync(to, value, bytes, nullptr); }
