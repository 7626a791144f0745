// How kernels that work on rows move them: every thread loads and stores pieces of W
// values, 16 bytes where rows and pointers allow it and single values elsewhere. A row
// that is reduced is held in the registers of a team of threads, so memory is read
// once.
//
// How a row is divided depends on C and the format alone, never on the number of
// rows, so a row's result is the same in every batch.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "error.h"
#include "number.h"

namespace millrace {

// Piece is W values that a thread moves at once. Where they are more than 16 bytes
// they are several loads.
template <class T, int W>
struct alignas(W * sizeof(T) < 16 ? W * sizeof(T) : 16) Piece {
  T value[W];
};

template <int W, class T>
__device__ inline Piece<T, W> load(const T* at) {
  return *reinterpret_cast<const Piece<T, W>*>(at);
}
template <int W, class T>
__device__ inline void store(T* at, const Piece<T, W>& piece) {
  *reinterpret_cast<Piece<T, W>*>(at) = piece;
}

// aligned tells whether 16-byte pieces may be loaded at all the pointers; null is
// never loaded.
template <class... P>
inline bool aligned(const P*... pointers) {
  return ((reinterpret_cast<uintptr_t>(pointers) % 16 == 0) && ...);
}

// with_width calls body with W as a std::integral_constant: the values of 16 bytes
// when wide, else 1.
template <class T, class Body>
inline void with_width(bool wide, Body body) {
  if (wide) {
    body(std::integral_constant<int, Vector<T>::size>());
  } else {
    body(std::integral_constant<int, 1>());
  }
}

constexpr int warp_threads = 32;
constexpr int row_values = 16;    // of a row in one thread's registers
constexpr int row_threads = 512;  // of a row, at most: leaves 128 registers a thread

// row_pieces is how many pieces of W values those are.
template <int W>
constexpr int row_pieces = row_values / W;

// Teams is how a block divides rows: dim3(threads, teams), a row each team. threads
// is whole warps.
struct Teams {
  int threads, teams;

  dim3 block() const { return dim3(threads, teams); }
};

// teams_for divides rows of C values, in blocks of about block_threads: in a small block
// a barrier stops few warps, and the processor's other blocks go on loading.
inline Teams teams_for(int64_t C, int block_threads) {
  const int64_t warps = (C + warp_threads * row_values - 1) / (warp_threads * row_values);
  if (C < 1 || warps * warp_threads > row_threads) {
    throw Error(Status::invalid, "rows of " + std::to_string(C) + " values cannot be normalised: at most " +
                                     std::to_string(row_threads * row_values) + " are possible");
  }
  const int threads = static_cast<int>(warps) * warp_threads;
  return {threads, threads < block_threads ? block_threads / threads : 1};
}

// blocks_for is the number of blocks for count items, of which a block takes each.
inline unsigned blocks_for(int64_t count, int64_t each) { return static_cast<unsigned>((count + each - 1) / each); }

}  // namespace millrace
