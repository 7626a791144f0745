// Device memory, which is host memory with a fence around each allocation: it says
// which addresses are a device's, and notices writes past an end.
#pragma once

#include <cstddef>

namespace emulator {

// inside says that [pointer, pointer+bytes) lies within one allocation of a device.
bool inside(const void* pointer, size_t bytes);
// on_device says that pointer lies in an allocation of a device.
bool on_device(const void* pointer);
// check_fences ends the process if a kernel wrote past an end of an allocation.
void check_fences();
size_t memory_limit();

}  // namespace emulator
