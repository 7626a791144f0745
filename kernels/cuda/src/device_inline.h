// The templates of device.h.
#pragma once

#include <utility>

namespace millrace {

// allocate returns device memory, or throws out_of_memory with what was asked and
// what is free.
void* allocate(const Device& device, size_t bytes, const char* what);

// throw_launch_error names the kernel.
[[noreturn]] void throw_launch_error(cudaError_t result, const void* kernel);

template <class T>
Buffer<T>::Buffer(const Device& device, size_t n, const char* what)
    : data_(static_cast<T*>(allocate(device, n * sizeof(T), what))), size_(n) {}

template <class T>
Buffer<T>::~Buffer() {
  cudaFree(data_);
}

template <class T>
Buffer<T>::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

template <class T>
Buffer<T>& Buffer<T>::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

template <class T>
void Buffer<T>::clear(cudaStream_t stream) {
  if (size_) check(cudaMemsetAsync(data_, 0, size_ * sizeof(T), stream), "clearing a buffer");
}

template <class T>
void Buffer<T>::write(cudaStream_t stream, const T* host, size_t n, size_t at) {
  if (n > size_ || at > size_ - n) throw Error(Status::invalid, "writing past the end of a buffer");
  if (n)
    check(cudaMemcpyAsync(data_ + at, host, n * sizeof(T), cudaMemcpyHostToDevice, stream), "copying to the device");
}

template <class T>
void Buffer<T>::read(cudaStream_t stream, T* host, size_t n, size_t at) const {
  if (n > size_ || at > size_ - n) throw Error(Status::invalid, "reading past the end of a buffer");
  if (n)
    check(cudaMemcpyAsync(host, data_ + at, n * sizeof(T), cudaMemcpyDeviceToHost, stream), "copying from the device");
}

#if defined(__CUDACC__)

template <class T>
__device__ inline T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char dynamic_shared_bytes[];
  return reinterpret_cast<T*>(dynamic_shared_bytes);
}

#elif defined(MILLRACE_EMULATOR)

template <class T>
inline T* dynamic_shared() {
  return static_cast<T*>(emulator::shared_memory());
}

#endif

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
            Arguments... arguments) {
  constexpr size_t allowed_anyway = 48 << 10;
  cudaError_t result = cudaSuccess;
  if (shared > allowed_anyway) {
    result = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  }
  if (result == cudaSuccess) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    result = cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
  }
  if (result != cudaSuccess) throw_launch_error(result, reinterpret_cast<const void*>(kernel));
}

}  // namespace millrace
