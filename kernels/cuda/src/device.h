// One device: its stream, its memory, and how kernels are launched on it.
//
// All work of a Device is in order on one stream, so a buffer may be used again
// as soon as the work that reads it is launched. A Device is used by one thread at
// a time, and every call of the C ABI makes its device the thread's current one
// first.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "error.h"

namespace millrace {

class Device {
 public:
  explicit Device(int ordinal);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  void use() const;          // makes it the calling thread's device
  void synchronize() const;  // waits for the stream
  size_t free_bytes() const;

  const int ordinal;
  cudaStream_t stream = nullptr;
  int processors = 0;   // streaming multiprocessors
  int capability = 0;   // 90 for compute capability 9.0
  size_t shared_limit;  // bytes of shared memory a block may ask for
  size_t total_bytes;
  std::string name;
};

// Buffer owns n values of device memory. What names it in the text of an
// out-of-memory error, with the setting that would make it smaller.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Device& device, size_t n, const char* what);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  T* data() const { return data_; }
  size_t size() const { return size_; }
  void clear(cudaStream_t stream);  // to zero bytes
  void write(cudaStream_t stream, const T* host, size_t n, size_t at = 0);
  void read(cudaStream_t stream, T* host, size_t n, size_t at = 0) const;

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// Arena hands out parts of one allocation, last in first out. Asked without
// memory behind it (reserve was not called yet), it counts: what a computation
// takes is found by laying it out twice.
class Arena {
 public:
  explicit Arena(const Device& device, const char* what) : device_(device), what_(what) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // take returns n values aligned to 256 bytes, or null while counting.
  template <class T>
  T* take(size_t n) {
    return static_cast<T*>(take_bytes(n * sizeof(T)));
  }
  size_t mark() const { return used_; }
  void release(size_t mark) { used_ = mark; }
  size_t peak() const { return peak_; }

  // count starts counting; reserve ends it and makes room for at least bytes.
  void count();
  void reserve(size_t bytes);

 private:
  void* take_bytes(size_t bytes);

  const Device& device_;
  const char* what_;
  char* base_ = nullptr;
  size_t size_ = 0, used_ = 0, peak_ = 0;
  bool counting_ = false;
};

// dynamic_shared is the block's dynamic shared memory.
template <class T>
__device__ inline T* dynamic_shared();

// launch starts a kernel and throws if it could not be started. Shared memory
// above 48 KiB is allowed by itself.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
            Arguments... arguments);

}  // namespace millrace

#include "device_inline.h"
