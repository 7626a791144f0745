// The calls on engines.
#include <cstddef>

#include "abi.h"
#include "attention.h"

using namespace millrace;

namespace {

// The arrays of a tick are used as they lie: the library's structs are the ABI's.
static_assert(sizeof(mr_sampling) == sizeof(SamplingRow) && offsetof(mr_sampling, position) == offsetof(SamplingRow, position) &&
                  offsetof(mr_sampling, temperature) == offsetof(SamplingRow, temperature) &&
                  offsetof(mr_sampling, top_p) == offsetof(SamplingRow, top_p) &&
                  offsetof(mr_sampling, min_p) == offsetof(SamplingRow, min_p) &&
                  offsetof(mr_sampling, top_k) == offsetof(SamplingRow, top_k),
              "mr_sampling is SamplingRow");
static_assert(sizeof(mr_sampled) == sizeof(Sampled) && offsetof(mr_sampled, log_prob) == offsetof(Sampled, log_prob) &&
                  offsetof(mr_sampled, log_prob_untempered) == offsetof(Sampled, log_prob_untempered),
              "mr_sampled is Sampled");
static_assert(MR_PAGE_TOKENS == page_tokens, "a page is a page");

HostTick tick_of(const mr_tick_call& c) {
  return {c.tokens, c.starts, c.lengths, c.page_table, c.sampled_rows, reinterpret_cast<const SamplingRow*>(c.samplings),
          reinterpret_cast<Sampled*>(c.sampled), c.sequences, c.table_stride, c.samples};
}

}  // namespace

extern "C" {

void mr_engine_create(mr_engine_create_call* call) {
  call->engine = nullptr;
  with_policy(call, [&](Policy& p) {
    auto engine = std::make_unique<mr_engine>();
    engine->device = call->policy->device;
    engine->engine = make_engine(engine->device->device, engine->device->gemm, p.shape, p.precision,
                                 {call->rows, call->sequences, call->pages, call->cache_bytes});
    call->pages = engine->engine->pages();
    engine->device->engines++;
    call->engine = engine.release();
  });
}

void mr_engine_destroy(mr_engine_destroy_call* call) {
  if (!call->engine) return guarded(call->report, [] { throw Error(Status::invalid, "there is no engine"); });
  in_turn(call->report, call->engine->device, [&] {
    call->engine->device->engines--;
    delete call->engine;
  });
}

void mr_tick(mr_tick_call* call) {
  with_policy(call, [&](Policy& p) {
    if (!call->engine || call->engine->device != call->policy->device) {
      throw Error(Status::invalid, "a tick: the engine is not on the policy's device");
    }
    call->engine->engine->tick(p, tick_of(*call));
    call->version = p.version();
  });
}

}  // extern "C"
