#include "weights.h"

namespace millrace {

Layout::Layout(const Shape& s) {
  layers.resize(s.L);
  auto prefix = [](int64_t l) { return "model.layers." + std::to_string(l) + "."; };

  embedding = add("model.embed_tokens.weight", s.V * s.C);
  for (int64_t l = 0; l < s.L; l++) {
    Layer& at = layers[l];
    align();
    at.qkv = add(prefix(l) + "self_attn.q_proj.weight", s.H * s.D * s.C);
    add(prefix(l) + "self_attn.k_proj.weight", s.K * s.D * s.C);
    add(prefix(l) + "self_attn.v_proj.weight", s.K * s.D * s.C);
    align();
    at.out = add(prefix(l) + "self_attn.o_proj.weight", s.C * s.H * s.D);
    align();
    at.gate_up = add(prefix(l) + "mlp.gate_proj.weight", s.I * s.C);
    add(prefix(l) + "mlp.up_proj.weight", s.I * s.C);
    align();
    at.down = add(prefix(l) + "mlp.down_proj.weight", s.C * s.I);
  }
  align();
  head = s.tied ? embedding : add("lm_head.weight", s.V * s.C);
  align();
  matrices = size;
  for (int64_t l = 0; l < s.L; l++) {
    Layer& at = layers[l];
    at.input_norm = add(prefix(l) + "input_layernorm.weight", s.C);
    align();
    at.q_norm = add(prefix(l) + "self_attn.q_norm.weight", s.D);
    align();
    at.k_norm = add(prefix(l) + "self_attn.k_norm.weight", s.D);
    align();
    at.post_norm = add(prefix(l) + "post_attention_layernorm.weight", s.C);
    align();
  }
  norm = add("model.norm.weight", s.C);
  align();
}

size_t Layout::add(const std::string& name, int64_t n) {
  const size_t at = size;
  tensors.push_back({name, at, static_cast<size_t>(n)});
  size += n;
  return at;
}

void Layout::align() { size = (size + alignment - 1) / alignment * alignment; }

const Layout::Tensor& Layout::find(const std::string& name, int64_t n) const {
  for (const Tensor& t : tensors) {
    if (t.name != name) continue;
    if (static_cast<int64_t>(t.n) != n) {
      throw Error(Status::invalid, "tensor " + name + " has " + std::to_string(t.n) + " values, " + std::to_string(n) + " were given");
    }
    return t;
  }
  throw Error(Status::invalid, "tensor " + name + " is no part of the model");
}

}  // namespace millrace
