// Captured ticks: hundreds of launches become one, without which decoding a small policy
// takes the time of the launches.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <map>
#include <tuple>

namespace millrace {

// DecodeGraphs keeps a graph for each batch size, bound of lengths and buffer of weights:
// everything that a captured launch has in it and that may change. Any other address that
// moves makes all graphs void: clear.
class DecodeGraphs {
 public:
  struct Key {
    const void* weights;
    int64_t sequences, longest;
    bool operator<(const Key& o) const {
      return std::tie(weights, sequences, longest) < std::tie(o.weights, o.sequences, o.longest);
    }
  };

  DecodeGraphs() = default;
  ~DecodeGraphs() { clear(); }
  DecodeGraphs(const DecodeGraphs&) = delete;
  DecodeGraphs& operator=(const DecodeGraphs&) = delete;

  // run does what body launches on the stream. A key's first run launches as it is: kernels
  // are loaded and algorithms chosen then, which a capture does not allow. The second one
  // captures, later ones launch the graph.
  template <class Body>
  void run(cudaStream_t stream, const Key& key, Body body) {
    const auto [at, first] = graphs_.emplace(key, nullptr);
    if (first) return body();
    if (!at->second) {
      begin(stream);
      try {
        body();
      } catch (...) {
        abandon(stream);
        throw;
      }
      at->second = end(stream);
    }
    start(stream, at->second);
  }
  void clear();

 private:
  static void begin(cudaStream_t stream);
  static void abandon(cudaStream_t stream);
  static cudaGraphExec_t end(cudaStream_t stream);
  static void start(cudaStream_t stream, cudaGraphExec_t graph);

  std::map<Key, cudaGraphExec_t> graphs_;
};

}  // namespace millrace
