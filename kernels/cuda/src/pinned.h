// Host memory that the device copies without a detour.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "error.h"

namespace millrace {

class Pinned {
 public:
  explicit Pinned(size_t bytes) {
    check(cudaHostAlloc(&data_, bytes, cudaHostAllocDefault), "allocating pinned host memory");
  }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  char* data() const { return static_cast<char*>(data_); }

 private:
  void* data_ = nullptr;
};

}  // namespace millrace
