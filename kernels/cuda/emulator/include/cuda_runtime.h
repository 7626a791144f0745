// A stand-in for CUDA's header of this name: a kernel compiled with it by a C++
// compiler runs on the CPU (see ../block.h). It has what this library uses, and
// behaves as the CUDA programming guide says; where the guide leaves something
// undefined, the emulator ends the process or gives NaN.
#pragma once

#define MILLRACE_EMULATOR 1

#include "cuda_runtime_api.h"
#include "emulator_device.h"
#include "emulator_math.h"

namespace emulator {
// launch checks the configuration, and runs the kernel or adds it to the graph that
// the stream captures.
cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel, std::function<void()> thread);
}  // namespace emulator

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  return emulator::launch(*config, reinterpret_cast<const void*>(kernel),
                          [kernel, copies = std::tuple<Parameters...>(arguments...)] { std::apply(kernel, copies); });
}

template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

template <class T>
cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes) {
  return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
