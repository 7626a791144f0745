// What a kernel may use besides arithmetic: qualifiers, built-in variables, barriers,
// warp functions and atomics.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>

#include "../block.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __constant__ static const
#define __align__(n) alignas(n)
#define __shared__ static thread_local

// Set for the thread that runs.
extern __thread uint3 threadIdx, blockIdx;
extern __thread dim3 blockDim, gridDim;
constexpr int warpSize = 32;

inline void __syncthreads() { emulator::barrier(false); }
inline int __syncthreads_count(int predicate) { return emulator::barrier(predicate != 0).yes; }
inline int __syncthreads_or(int predicate) { return emulator::barrier(predicate != 0).yes != 0; }
inline int __syncthreads_and(int predicate) {
  emulator::Vote vote = emulator::barrier(predicate != 0);
  return vote.yes == vote.all;
}

inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) {}
[[noreturn]] inline void __trap() { __builtin_trap(); }

namespace emulator {

template <class T>
uint64_t bits(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "a shuffle moves at most 8 bytes");
  uint64_t result = 0;
  std::memcpy(&result, &value, sizeof value);
  return result;
}

template <class T>
T value(uint64_t bits) {
  T result;
  std::memcpy(static_cast<void*>(&result), &bits, sizeof result);
  return result;
}

template <class T>
T shuffle(unsigned mask, T x, int source) {
  return value<T>(meet(Collective::shuffle, mask, bits(x), source));
}

}  // namespace emulator

inline void __syncwarp(unsigned mask = 0xffffffffu) { emulator::meet(emulator::Collective::sync, mask, 0, 0); }
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return static_cast<unsigned>(emulator::meet(emulator::Collective::ballot, mask, predicate != 0, 0));
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate == 0) == 0; }
template <class T>
unsigned __match_any_sync(unsigned mask, T x) {
  return static_cast<unsigned>(emulator::meet(emulator::Collective::match, mask, emulator::bits(x), 0));
}
// The reductions are for integers, as CUDA's.
template <class T>
T __reduce_add_sync(unsigned mask, T x) {
  return static_cast<T>(emulator::meet(emulator::Collective::sum, mask, static_cast<uint64_t>(int64_t{x}), 0));
}
template <class T>
T __reduce_min_sync(unsigned mask, T x) {
  return static_cast<T>(emulator::meet(emulator::Collective::least, mask, static_cast<uint64_t>(int64_t{x}), 0));
}
template <class T>
T __reduce_max_sync(unsigned mask, T x) {
  return static_cast<T>(emulator::meet(emulator::Collective::most, mask, static_cast<uint64_t>(int64_t{x}), 0));
}

// The shuffles: width, a power of two, splits the warp into segments.
template <class T>
T __shfl_sync(unsigned mask, T x, int source, int width = warpSize) {
  int lane = emulator::lane();
  return emulator::shuffle(mask, x, (lane & ~(width - 1)) | (source & (width - 1)));
}
template <class T>
T __shfl_up_sync(unsigned mask, T x, unsigned delta, int width = warpSize) {
  int lane = emulator::lane(), source = lane - static_cast<int>(delta);
  return emulator::shuffle(mask, x, source < (lane & ~(width - 1)) ? lane : source);
}
template <class T>
T __shfl_down_sync(unsigned mask, T x, unsigned delta, int width = warpSize) {
  int lane = emulator::lane(), source = lane + static_cast<int>(delta);
  return emulator::shuffle(mask, x, source > (lane | (width - 1)) ? lane : source);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T x, int flip, int width = warpSize) {
  int lane = emulator::lane(), source = lane ^ flip;
  return emulator::shuffle(mask, x, source > (lane | (width - 1)) ? lane : source);
}

// Atomics: the threads of a launch run on one thread of the machine, so plain reads
// and writes are.
template <class T, class U>
T atomicExch(T* at, U x) {
  T old = *at;
  *at = static_cast<T>(x);
  return old;
}
template <class T, class U>
T atomicAdd(T* at, U x) {
  return atomicExch(at, *at + static_cast<T>(x));
}
template <class T, class U>
T atomicSub(T* at, U x) {
  return atomicExch(at, *at - static_cast<T>(x));
}
template <class T, class U>
T atomicMin(T* at, U x) {
  return atomicExch(at, static_cast<T>(x) < *at ? static_cast<T>(x) : *at);
}
template <class T, class U>
T atomicMax(T* at, U x) {
  return atomicExch(at, *at < static_cast<T>(x) ? static_cast<T>(x) : *at);
}
template <class T, class U>
T atomicOr(T* at, U x) {
  return atomicExch(at, *at | static_cast<T>(x));
}
template <class T, class U>
T atomicAnd(T* at, U x) {
  return atomicExch(at, *at & static_cast<T>(x));
}
template <class T, class U, class V>
T atomicCAS(T* at, U expected, V x) {
  return atomicExch(at, *at == static_cast<T>(expected) ? static_cast<T>(x) : *at);
}
inline unsigned atomicInc(unsigned* at, unsigned limit) { return atomicExch(at, *at >= limit ? 0u : *at + 1); }
