// A kernel's blocks, run one after another by the calling thread. A block's threads
// are fibers: each runs until it must wait for another, so a kernel without
// barriers never switches.
//
// Which thread of a block runs first is not defined by CUDA. Here it is thread 0, or
// with MILLRACE_EMULATOR_ORDER=reverse the last one, and blocks likewise: a kernel
// that lacks a barrier is wrong in one of the two.
//
// A block none of whose threads can go on (a barrier that not all living threads
// reach) ends the process with the kernel's name and where its threads wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "include/vector_types.h"

namespace emulator {

// Launch is a kernel with copies of its arguments.
struct Launch {
  std::function<void()> thread;  // what each thread runs
  const void* kernel;            // names it
  dim3 grid, block;
  size_t shared;
};

void run(const Launch& launch);

// What a running thread may call.

// barrier waits for all living threads of the block, and counts those with a predicate.
struct Vote {
  int yes, all;
};
Vote barrier(bool predicate);

// Collective is which warp operation a lane waits in: lanes that meet must agree.
enum class Collective : uint8_t { none, sync, shuffle, ballot, match, sum, least, most };

// meet waits for all living lanes of mask and returns what the operation gives this lane.
// A shuffle takes the value of lane source; of a lane that does not take part it is
// all ones, a NaN in every format.
uint64_t meet(Collective operation, unsigned mask, uint64_t value, int source);

int lane();
void* shared_memory();

}  // namespace emulator
