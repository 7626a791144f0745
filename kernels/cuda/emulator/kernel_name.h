// The name of a kernel, for messages.
#pragma once

#include <string>

namespace emulator {

// kernel_name is "millrace::rms_norm_kernel(...)", found by addr2line in the symbol
// table since most kernels are static, or the address where that fails.
std::string kernel_name(const void* kernel);

}  // namespace emulator
