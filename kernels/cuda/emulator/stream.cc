#include "stream.h"

#include <chrono>
#include <set>
#include <vector>

#include "memory.h"

struct CUgraph_st {
  std::vector<std::function<void()>> work;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
};
struct CUstream_st {
  CUgraph_st* capture = nullptr;
  bool invalidated = false;
};
struct CUevent_st {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
};

using namespace emulator;

namespace emulator {

namespace {
thread_local cudaError_t last_error = cudaSuccess;
thread_local std::set<cudaStream_t> capturing;
}  // namespace

cudaError_t failed(cudaError_t error) { return last_error = error; }

bool any_capture() {
  for (cudaStream_t stream : capturing) stream->invalidated = true;
  return !capturing.empty();
}

cudaError_t submit(cudaStream_t stream, std::function<void()> work) {
  if (!stream || !stream->capture) {
    if (!stream && any_capture()) return failed(cudaErrorStreamCaptureUnsupported);
    work();
    return cudaSuccess;
  }
  if (stream->invalidated) return failed(cudaErrorStreamCaptureInvalidated);
  stream->capture->work.push_back(std::move(work));
  return cudaSuccess;
}

}  // namespace emulator

cudaError_t cudaGetLastError() {
  cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaDeviceSynchronize() {
  if (any_capture()) return failed(cudaErrorStreamCaptureUnsupported);
  check_fences();
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (!stream) return failed(cudaErrorInvalidResourceHandle);
  capturing.erase(stream);
  delete stream->capture;
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream && stream->capture) {
    stream->invalidated = true;
    return failed(cudaErrorStreamCaptureUnsupported);
  }
  check_fences();
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return submit(stream, [event] {
    event->time = std::chrono::steady_clock::now();
    event->recorded = true;
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!start->recorded || !end->recorded) return failed(cudaErrorInvalidResourceHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* argument) {
  return submit(stream, [=] { function(argument); });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (!stream) return failed(cudaErrorStreamCaptureUnsupported);
  if (stream->capture) return failed(cudaErrorInvalidValue);
  stream->capture = new CUgraph_st;
  stream->invalidated = false;
  capturing.insert(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (!stream || !stream->capture) return failed(cudaErrorInvalidValue);
  capturing.erase(stream);
  *graph = stream->capture;
  stream->capture = nullptr;
  if (!stream->invalidated) return cudaSuccess;
  delete *graph;
  *graph = nullptr;
  return failed(cudaErrorStreamCaptureInvalidated);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = !stream || !stream->capture ? cudaStreamCaptureStatusNone
            : stream->invalidated       ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, CUgraphNode_st** nodes, size_t* count) {
  if (nodes) return failed(cudaErrorNotSupported);
  *count = graph->work.size();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  for (const auto& work : executable->work) {
    if (cudaError_t error = submit(stream, work)) return error;
  }
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
