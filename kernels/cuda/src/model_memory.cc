// Where a pass keeps its values.
#include <algorithm>

#include "model.h"

namespace millrace {

template <class T>
Activations<T> Model<T>::lay_forward(Arena& arena, const Packed& packed, Recompute recompute, bool backward) const {
  const size_t rows = packed.tokens, C = shape_.C, I = shape_.I, HD = shape_.H * shape_.D;
  const size_t heads = shape_.H + shape_.K;
  Activations<T> a;
  a.recompute = recompute;
  a.layers.resize(shape_.L);
  a.branch = arena.template take<T>(rows * C);
  // own tells whether layer i has a value of its own, when it is computed again by
  // recomputation of the kind `by` and all beyond.
  auto own = [&](int64_t i, Recompute by) { return i == 0 || (backward && recompute < by); };
  for (int64_t i = 0; i < shape_.L; i++) {
    LayerActivations<T>& l = a.layers[i];
    const LayerActivations<T>& first = a.layers[0];
    const bool in = i == 0 || backward, block = own(i, Recompute::block), cheap = own(i, Recompute::cheap);
    l.in = in ? arena.template take<T>(rows * C) : first.in;
    l.qkv = block ? arena.template take<T>(rows * shape_.qkv()) : first.qkv;
    l.out = block ? arena.template take<T>(rows * HD) : first.out;
    l.mid = block ? arena.template take<T>(rows * C) : first.mid;
    l.gate_up = block ? arena.template take<T>(rows * 2 * I) : first.gate_up;
    l.in_factor = block ? arena.template take<float>(rows) : first.in_factor;
    l.qk_factor = block ? arena.template take<float>(rows * heads) : first.qk_factor;
    l.mid_factor = block ? arena.template take<float>(rows) : first.mid_factor;
    l.lse = block ? arena.template take<float>(attention_->lse_floats(packed)) : first.lse;
    l.mid_normed = cheap ? arena.template take<T>(rows * C) : first.mid_normed;
    l.qk = cheap ? arena.template take<T>(rows * heads * shape_.D) : first.qk;
    l.act = cheap ? arena.template take<T>(rows * I) : first.act;
    // Both norms of a layer are needed at once only if neither is computed again.
    l.in_normed = backward && recompute == Recompute::none ? arena.template take<T>(rows * C) : l.mid_normed;
  }
  return a;
}

template <class T>
Scratch<T> Model<T>::lay_backward(Arena& arena, const Packed& packed, T* stream) const {
  const size_t rows = packed.tokens;
  Scratch<T> s;
  s.stream = stream;
  s.qk = arena.template take<T>(rows * (shape_.H + shape_.K) * shape_.D);
  s.qkv = arena.template take<T>(rows * shape_.qkv());
  s.out = arena.template take<T>(rows * shape_.H * shape_.D);
  s.sums = arena.template take<float>(std::max(rms_norm_scratch(rows, shape_.C), qk_norm_rope_scratch(rows, shape_)));
  return s;
}

template Activations<float> Model<float>::lay_forward(Arena&, const Packed&, Recompute, bool) const;
template Activations<bf16> Model<bf16>::lay_forward(Arena&, const Packed&, Recompute, bool) const;
template Scratch<float> Model<float>::lay_backward(Arena&, const Packed&, float*) const;
template Scratch<bf16> Model<bf16>::lay_backward(Arena&, const Packed&, bf16*) const;

}  // namespace millrace
