#include "decode_graphs.h"

#include "error.h"

namespace millrace {

void DecodeGraphs::clear() {
  for (const auto& at : graphs_) {
    if (at.second) cudaGraphExecDestroy(at.second);
  }
  graphs_.clear();
}

void DecodeGraphs::begin(cudaStream_t stream) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing a tick");
}

void DecodeGraphs::abandon(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  if (graph) cudaGraphDestroy(graph);
  cudaGetLastError();
}

cudaGraphExec_t DecodeGraphs::end(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph), "capturing a tick");
  cudaGraphExec_t executable = nullptr;
  const cudaError_t result = cudaGraphInstantiate(&executable, graph);
  cudaGraphDestroy(graph);
  check(result, "making a tick's graph");
  return executable;
}

void DecodeGraphs::start(cudaStream_t stream, cudaGraphExec_t graph) {
  check(cudaGraphLaunch(graph, stream), "launching a tick's graph");
}

}  // namespace millrace
