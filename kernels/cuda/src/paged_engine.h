// The engine of one format.
#pragma once

#include "attention.h"
#include "decode_graphs.h"
#include "engine.h"
#include "rope_tables.h"
#include "tick_room.h"

namespace millrace {

// EngineValues are what lies between the kernels of a tick: one of each, at the size of
// the largest tick, so that addresses never change.
template <class T>
struct EngineValues {
  T* stream;   // [R,C] residual stream
  T* branch;   // [R,C] what attention or MLP adds to it
  T* normed;   // [R,C]
  T* qkv;      // [R,(H+2K)D]
  T* qk;       // [R,(H+K)D]
  T* out;      // [R,H*D]
  T* gate_up;  // [R,2I]
  T* act;      // [R,I]
  T* last;     // [samples,C] residual stream of the rows sampled from
  T* last_branch;
  T* last_normed;
  float* logits;  // [samples,V]
  char* sampler;
};

template <class T>
class PagedEngine : public Engine {
 public:
  PagedEngine(const Device& device, Gemm& gemm, const Shape& shape, const EngineLimits& limits);

  void tick(const Policy& policy, const HostTick& tick) override;
  int64_t pages() const override { return pages_; }

 private:
  void validate(const Policy& policy, const HostTick& tick) const;
  EngineValues<T> lay();
  // prepare makes room for lengths up to longest; addresses that move void the graphs.
  void prepare(const PagedRows& rows);
  void forward(const T* weights, const Layout& layout, const DeviceTick& at, const PagedRows& rows);
  void sample_rows(const T* weights, const Layout& layout, const DeviceTick& at, int64_t samples);
  PagedCache<T> cache(int64_t layer) const { return {cache_.data() + layer * (pages_ + 1) * page_values_}; }

  const Device& device_;
  Gemm& gemm_;
  const Shape shape_;
  const int64_t rows_, sequences_;  // of the largest tick
  const int64_t page_values_;       // of one layer
  RopeTables<T> rope_;
  Arena arena_;
  EngineValues<T> values_;
  TickRoom room_;
  Buffer<float> scratch_;
  int64_t pages_;
  Buffer<T> cache_;  // [L][pages + 1]: the last page is the padding's
  DecodeGraphs graphs_;
};

}  // namespace millrace
