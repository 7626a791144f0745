// The layout of every struct of the C ABI, for callers that have no C compiler.
#include <cstddef>
#include <string>

#include "abi.h"

namespace {

class Lines {
 public:
  void of_struct(const char* name, size_t size) {
    name_ = name;
    text_ += name_ + " " + std::to_string(size) + "\n";
  }
  void of_field(const char* field, size_t offset, size_t size) {
    text_ += name_ + "." + field + " " + std::to_string(offset) + " " + std::to_string(size) + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  std::string name_, text_;
};

// Only the preprocessor knows a field's name.
#define STRUCT(type) lines.of_struct(#type, sizeof(type))
#define FIELD(type, field) lines.of_field(#field, offsetof(type, field), sizeof(type::field))

Lines describe() {
  Lines lines;
  STRUCT(mr_report);
  FIELD(mr_report, status);
  FIELD(mr_report, text);
  STRUCT(mr_device_info);
  FIELD(mr_device_info, name);
  FIELD(mr_device_info, capability);
  FIELD(mr_device_info, processors);
  FIELD(mr_device_info, total_bytes);
  STRUCT(mr_devices_call);
  FIELD(mr_devices_call, report);
  FIELD(mr_devices_call, driver_version);
  FIELD(mr_devices_call, runtime_version);
  FIELD(mr_devices_call, count);
  FIELD(mr_devices_call, reserved);
  FIELD(mr_devices_call, devices);
  STRUCT(mr_open_call);
  FIELD(mr_open_call, report);
  FIELD(mr_open_call, ordinal);
  FIELD(mr_open_call, reserved);
  FIELD(mr_open_call, device);
  STRUCT(mr_close_call);
  FIELD(mr_close_call, report);
  FIELD(mr_close_call, device);
  STRUCT(mr_memory_call);
  FIELD(mr_memory_call, report);
  FIELD(mr_memory_call, device);
  FIELD(mr_memory_call, free_bytes);
  FIELD(mr_memory_call, total_bytes);
  STRUCT(mr_shape);
  FIELD(mr_shape, vocab);
  FIELD(mr_shape, hidden);
  FIELD(mr_shape, intermediate);
  FIELD(mr_shape, layers);
  FIELD(mr_shape, heads);
  FIELD(mr_shape, kv_heads);
  FIELD(mr_shape, head_dim);
  FIELD(mr_shape, max_positions);
  FIELD(mr_shape, eps);
  FIELD(mr_shape, theta);
  FIELD(mr_shape, tied);
  FIELD(mr_shape, reserved);
  STRUCT(mr_create_call);
  FIELD(mr_create_call, report);
  FIELD(mr_create_call, device);
  FIELD(mr_create_call, shape);
  FIELD(mr_create_call, precision);
  FIELD(mr_create_call, recompute);
  FIELD(mr_create_call, policy);
  FIELD(mr_create_call, attention);
  FIELD(mr_create_call, attention_why);
  STRUCT(mr_destroy_call);
  FIELD(mr_destroy_call, report);
  FIELD(mr_destroy_call, policy);
  STRUCT(mr_tensor_call);
  FIELD(mr_tensor_call, report);
  FIELD(mr_tensor_call, policy);
  FIELD(mr_tensor_call, name);
  FIELD(mr_tensor_call, data);
  FIELD(mr_tensor_call, n);
  FIELD(mr_tensor_call, kind);
  FIELD(mr_tensor_call, reserved);
  STRUCT(mr_restart_call);
  FIELD(mr_restart_call, report);
  FIELD(mr_restart_call, policy);
  FIELD(mr_restart_call, steps);
  STRUCT(mr_loss);
  FIELD(mr_loss, supervised);
  FIELD(mr_loss, sequence_ratio);
  FIELD(mr_loss, clipped_weight);
  FIELD(mr_loss, reserved);
  FIELD(mr_loss, clip_low);
  FIELD(mr_loss, clip_high);
  FIELD(mr_loss, dual_clip);
  FIELD(mr_loss, kl_coefficient);
  FIELD(mr_loss, entropy_coefficient);
  FIELD(mr_loss, truncated_is);
  FIELD(mr_loss, temperature);
  STRUCT(mr_target);
  FIELD(mr_target, row);
  FIELD(mr_target, token);
  FIELD(mr_target, sequence);
  FIELD(mr_target, has_behaviour);
  FIELD(mr_target, behaviour);
  FIELD(mr_target, reference);
  FIELD(mr_target, advantage);
  FIELD(mr_target, denominator);
  STRUCT(mr_outcome);
  FIELD(mr_outcome, log_prob);
  FIELD(mr_outcome, entropy);
  FIELD(mr_outcome, loss);
  FIELD(mr_outcome, ratio);
  FIELD(mr_outcome, kl);
  FIELD(mr_outcome, difference);
  FIELD(mr_outcome, clipped);
  FIELD(mr_outcome, finite);
  STRUCT(mr_pack_call);
  FIELD(mr_pack_call, report);
  FIELD(mr_pack_call, policy);
  FIELD(mr_pack_call, tokens);
  FIELD(mr_pack_call, starts);
  FIELD(mr_pack_call, targets);
  FIELD(mr_pack_call, outcomes);
  FIELD(mr_pack_call, sequences);
  FIELD(mr_pack_call, n_targets);
  FIELD(mr_pack_call, loss);
  FIELD(mr_pack_call, bytes);
  FIELD(mr_pack_call, recompute);
  FIELD(mr_pack_call, reserved);
  STRUCT(mr_step_call);
  FIELD(mr_step_call, report);
  FIELD(mr_step_call, policy);
  FIELD(mr_step_call, learning_rate);
  FIELD(mr_step_call, beta1);
  FIELD(mr_step_call, beta2);
  FIELD(mr_step_call, epsilon);
  FIELD(mr_step_call, weight_decay);
  FIELD(mr_step_call, clip_norm);
  FIELD(mr_step_call, norm);
  FIELD(mr_step_call, finite);
  FIELD(mr_step_call, reserved);
  STRUCT(mr_publish_call);
  FIELD(mr_publish_call, report);
  FIELD(mr_publish_call, policy);
  FIELD(mr_publish_call, version);
  STRUCT(mr_engine_create_call);
  FIELD(mr_engine_create_call, report);
  FIELD(mr_engine_create_call, policy);
  FIELD(mr_engine_create_call, rows);
  FIELD(mr_engine_create_call, sequences);
  FIELD(mr_engine_create_call, cache_bytes);
  FIELD(mr_engine_create_call, pages);
  FIELD(mr_engine_create_call, engine);
  STRUCT(mr_engine_destroy_call);
  FIELD(mr_engine_destroy_call, report);
  FIELD(mr_engine_destroy_call, engine);
  STRUCT(mr_sampling);
  FIELD(mr_sampling, seed);
  FIELD(mr_sampling, position);
  FIELD(mr_sampling, temperature);
  FIELD(mr_sampling, top_p);
  FIELD(mr_sampling, min_p);
  FIELD(mr_sampling, top_k);
  STRUCT(mr_sampled);
  FIELD(mr_sampled, token);
  FIELD(mr_sampled, log_prob);
  FIELD(mr_sampled, log_prob_untempered);
  FIELD(mr_sampled, reserved);
  STRUCT(mr_tick_call);
  FIELD(mr_tick_call, report);
  FIELD(mr_tick_call, engine);
  FIELD(mr_tick_call, policy);
  FIELD(mr_tick_call, tokens);
  FIELD(mr_tick_call, starts);
  FIELD(mr_tick_call, lengths);
  FIELD(mr_tick_call, page_table);
  FIELD(mr_tick_call, sampled_rows);
  FIELD(mr_tick_call, samplings);
  FIELD(mr_tick_call, sampled);
  FIELD(mr_tick_call, sequences);
  FIELD(mr_tick_call, table_stride);
  FIELD(mr_tick_call, samples);
  FIELD(mr_tick_call, version);
  return lines;
}

}  // namespace

extern "C" const char* mr_layout(void) {
  static const Lines lines = describe();
  return lines.text().c_str();
}
