// The calls on policies.
#include <cstddef>

#include "abi.h"

using namespace millrace;

namespace {

// The arrays of a pack are used as they lie: the library's structs are the ABI's.
static_assert(sizeof(mr_target) == sizeof(Target) && offsetof(mr_target, behaviour) == offsetof(Target, behaviour) &&
                  offsetof(mr_target, denominator) == offsetof(Target, denominator),
              "mr_target is Target");
static_assert(sizeof(mr_outcome) == sizeof(Outcome) && offsetof(mr_outcome, ratio) == offsetof(Outcome, ratio) &&
                  offsetof(mr_outcome, finite) == offsetof(Outcome, finite),
              "mr_outcome is Outcome");

Shape shape_of(const mr_shape& s) {
  for (int64_t n : {s.vocab, s.hidden, s.intermediate, s.layers, s.heads, s.kv_heads, s.head_dim, s.max_positions}) {
    if (n < 1 || n > INT32_MAX) throw Error(Status::invalid, "a size of the shape is " + std::to_string(n));
  }
  if (s.heads % s.kv_heads != 0 || s.head_dim % 2 != 0) {
    throw Error(Status::invalid, "heads are a multiple of kv_heads, and head_dim is even");
  }
  Shape shape;
  shape.V = s.vocab;
  shape.C = s.hidden;
  shape.I = s.intermediate;
  shape.L = s.layers;
  shape.H = s.heads;
  shape.K = s.kv_heads;
  shape.D = s.head_dim;
  shape.max_positions = s.max_positions;
  shape.eps = static_cast<float>(s.eps);
  shape.theta = s.theta;
  shape.tied = s.tied;
  return shape;
}

LossSettings settings_of(const mr_loss& l) {
  return {l.supervised, l.sequence_ratio, l.clipped_weight, 0, l.clip_low, l.clip_high, l.dual_clip, l.kl_coefficient,
          l.entropy_coefficient, l.truncated_is, l.temperature};
}

HostPack pack_of(const mr_pack_call& call) {
  return {call.tokens, call.starts, call.sequences, reinterpret_cast<const Target*>(call.targets), call.n_targets,
          reinterpret_cast<Outcome*>(call.outcomes)};
}

// text_of is the name, which the caller may have left without an end.
template <size_t n>
std::string text_of(const char (&name)[n]) {
  size_t length = 0;
  while (length < n && name[length]) length++;
  return std::string(name, length);
}

void told(mr_pack_call* call, const Used& used) {
  call->recompute = static_cast<int32_t>(used.recompute);
  call->bytes = used.bytes;
}

}  // namespace

extern "C" {

void mr_create(mr_create_call* call) {
  call->policy = nullptr;
  in_turn(call->report, call->device, [&] {
    if (call->precision != MR_FP32 && call->precision != MR_BF16) throw Error(Status::invalid, "no such precision");
    if (call->recompute < MR_RECOMPUTE_AUTO || call->recompute > MR_RECOMPUTE_BLOCK) {
      throw Error(Status::invalid, "no such recomputation");
    }
    auto policy = std::make_unique<mr_policy>();
    policy->device = call->device;
    policy->policy = make_policy(call->device->device, call->device->gemm, shape_of(call->shape),
                                 static_cast<Precision>(call->precision), static_cast<Recompute>(call->recompute));
    put(call->attention, policy->policy->attention());
    put(call->attention_why, policy->policy->why_not().c_str());
    call->device->policies++;
    call->policy = policy.release();
  });
}

void mr_destroy(mr_destroy_call* call) {
  if (!call->policy) return guarded(call->report, [] { throw Error(Status::invalid, "there is no policy"); });
  in_turn(call->report, call->policy->device, [&] {
    call->policy->device->policies--;
    delete call->policy;
  });
}

void mr_write(mr_tensor_call* call) {
  with_policy(call, [&](Policy& p) { p.write(static_cast<Kind>(call->kind), text_of(call->name), call->data, call->n); });
}

void mr_read(mr_tensor_call* call) {
  with_policy(call, [&](Policy& p) { p.read(static_cast<Kind>(call->kind), text_of(call->name), call->data, call->n); });
}

void mr_restart(mr_restart_call* call) {
  with_policy(call, [&](Policy& p) { p.restart(call->steps); });
}

void mr_accumulate(mr_pack_call* call) {
  with_policy(call, [&](Policy& p) { told(call, p.accumulate(pack_of(*call), settings_of(call->loss))); });
}

void mr_log_probs(mr_pack_call* call) {
  with_policy(call, [&](Policy& p) { told(call, p.log_probs(pack_of(*call), call->loss.temperature)); });
}

void mr_step(mr_step_call* call) {
  with_policy(call, [&](Policy& p) {
    const GradientNorm norm = p.step({call->learning_rate, call->beta1, call->beta2, call->epsilon, call->weight_decay, call->clip_norm, 0});
    call->norm = norm.norm;
    call->finite = norm.finite;
  });
}

void mr_publish(mr_publish_call* call) {
  with_policy(call, [&](Policy& p) { p.publish(call->version); });
}

}  // extern "C"
