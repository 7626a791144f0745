// Streams that do work at once or, while they capture, keep it for a graph.
#pragma once

#include <functional>

#include "include/cuda_runtime_api.h"

namespace emulator {

// submit does the work, or adds it to the graph the stream captures.
cudaError_t submit(cudaStream_t stream, std::function<void()> work);
// any_capture says that a stream of this thread captures: what synchronises is then not allowed,
// and makes the capture invalid.
bool any_capture();
// failed keeps the error for cudaGetLastError and returns it.
cudaError_t failed(cudaError_t error);

}  // namespace emulator
