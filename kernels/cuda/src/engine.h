// Generation: one call takes every sequence of a tick one step further, through a paged
// cache of keys and values.
//
// The engine knows no sequences. A tick says for each which positions its rows are and
// which pages hold its keys; whoever calls decides what shares a page and when one is
// free again. Layers are the kernels of training, so a token's log-probability differs
// from the learner's by the rounding of products of other sizes alone.
#pragma once

#include <memory>

#include "device.h"
#include "gemm.h"
#include "policy.h"
#include "sampler.h"

namespace millrace {

// EngineLimits bound a tick, and so the memory that is taken once.
struct EngineLimits {
  int64_t rows, sequences;  // of a tick
  int64_t pages;            // at most
  size_t cache_bytes;       // at most; 0 is a quarter of what is free
};

// HostTick is a tick in host memory. Sequence b is the rows [starts[b], starts[b+1]), at
// the last positions of its lengths[b].
struct HostTick {
  const int32_t* tokens;         // [rows]
  const int32_t* starts;         // [sequences+1]
  const int32_t* lengths;        // [sequences] with the tick's rows
  const int32_t* page_table;     // [sequences, table_stride]
  const int32_t* sampled_rows;   // [samples] whose next token is wanted
  const SamplingRow* samplings;  // [samples]
  Sampled* sampled;              // [samples], written
  int64_t sequences, table_stride, samples;
};

class Engine {
 public:
  virtual ~Engine() = default;

  // tick runs the policy's published weights, which must be of the engine's shape and
  // precision. It waits for the device. If it throws invalid or out_of_memory, nothing was
  // written.
  virtual void tick(const Policy& policy, const HostTick& tick) = 0;
  // pages is their number: a tick names those below it.
  virtual int64_t pages() const = 0;
};

std::unique_ptr<Engine> make_engine(const Device& device, Gemm& gemm, const Shape& shape, Precision precision,
                                    const EngineLimits& limits);

}  // namespace millrace
