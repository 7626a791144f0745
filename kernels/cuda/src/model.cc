#include "model.h"

#include <type_traits>

namespace millrace {

namespace {

// choose takes cuDNN's attention where there is one for the format, the device and the
// shape; refused is why not.
template <class T>
std::unique_ptr<Attention<T>> choose(const Device& device, const Shape& shape, std::string& refused) {
  if constexpr (std::is_same_v<T, bf16>) {
    try {
      return cudnn_attention(device, shape);
    } catch (const Error& e) {
      if (e.status != Status::unavailable) throw;
      refused = e.what();
    }
  }
  return tiled_attention<T>(device, shape);
}

}  // namespace

template <class T>
Model<T>::Model(const Device& device, Gemm& gemm, const Shape& shape, const Layout& layout)
    : device_(device), gemm_(gemm), shape_(shape), layout_(layout), attention_(choose<T>(device, shape, refused_)), rope_(device, shape) {}

template <class T>
void Model<T>::norm_in(const LayerActivations<T>& l, int64_t i, const T* w, int64_t rows) {
  rms_norm(device_.stream, l.in_normed, l.in_factor, l.in, w + layout_.layers[i].input_norm, rows, shape_.C, shape_.eps);
}

template <class T>
void Model<T>::rotate(const LayerActivations<T>& l, int64_t i, const T* w, const Batch& batch) {
  const Layout::Layer& at = layout_.layers[i];
  qk_norm_rope(device_.stream, l.qk, l.qk_factor, l.qkv, w + at.q_norm, w + at.k_norm, batch.packed.positions, rope_.table(),
               batch.packed.tokens, shape_);
}

// layer computes a layer from in_normed to act.
template <class T>
void Model<T>::layer(const Activations<T>& a, int64_t i, const T* w, const Batch& batch) {
  const Layout::Layer& at = layout_.layers[i];
  const LayerActivations<T>& l = a.layers[i];
  const int64_t rows = batch.packed.tokens, C = shape_.C, I = shape_.I, HD = shape_.H * shape_.D;
  gemm_.forward(l.qkv, shape_.qkv(), l.in_normed, C, w + at.qkv, rows, shape_.qkv(), C);
  rotate(l, i, w, batch);
  attention_->forward({l.out, HD}, l.lse, queries(l), keys(l), values(l), batch.packed);
  gemm_.forward(a.branch, C, l.out, HD, w + at.out, rows, C, HD);
  add_rms_norm(device_.stream, l.mid, l.mid_normed, l.mid_factor, l.in, a.branch, w + at.post_norm, rows, C, shape_.eps);
  gemm_.forward(l.gate_up, 2 * I, l.mid_normed, C, w + at.gate_up, rows, 2 * I, C);
  swiglu(device_.stream, l.act, l.gate_up, rows, I);
}

template <class T>
void Model<T>::forward(const Activations<T>& a, const T* w, const Batch& batch) {
  const int64_t rows = batch.packed.tokens, C = shape_.C, I = shape_.I;
  embed(device_.stream, a.layers[0].in, w + layout_.embedding, batch.tokens, rows, C);
  norm_in(a.layers[0], 0, w, rows);
  for (int64_t i = 0; i < shape_.L; i++) {
    layer(a, i, w, batch);
    gemm_.forward(a.branch, C, a.layers[i].act, I, w + layout_.layers[i].down, rows, C, I);
    if (i + 1 < shape_.L) {
      const LayerActivations<T>& next = a.layers[i + 1];
      add_rms_norm(device_.stream, next.in, next.in_normed, next.in_factor, a.layers[i].mid, a.branch,
                   w + layout_.layers[i + 1].input_norm, rows, C, shape_.eps);
    }
  }
}

// rebuild computes again what layer i shares with the layers above it, but for in_normed,
// which shares its place with mid_normed.
template <class T>
void Model<T>::rebuild(const Activations<T>& a, int64_t i, const T* w, const Batch& batch) {
  const LayerActivations<T>& l = a.layers[i];
  const int64_t rows = batch.packed.tokens;
  if (a.recompute == Recompute::block) {
    norm_in(l, i, w, rows);
    layer(a, i, w, batch);
  } else if (a.recompute == Recompute::cheap) {
    rotate(l, i, w, batch);
    rms_norm(device_.stream, l.mid_normed, l.mid_factor, l.mid, w + layout_.layers[i].post_norm, rows, shape_.C, shape_.eps);
    swiglu(device_.stream, l.act, l.gate_up, rows, shape_.I);
  }
}

// mlp_backward replaces the gradient behind the layer by that of mid. A buffer is
// overwritten by the gradient of what it holds as soon as that was read for the last time.
template <class T>
void Model<T>::mlp_backward(const Activations<T>& a, const Scratch<T>& s, int64_t i, const T* w, float* g, int64_t rows) {
  const Layout::Layer& at = layout_.layers[i];
  const LayerActivations<T>& l = a.layers[i];
  const int64_t C = shape_.C, I = shape_.I;
  gemm_.weight_gradient(g + at.down, s.stream, C, l.act, I, rows, C, I);
  gemm_.input_gradient(l.act, I, s.stream, C, w + at.down, rows, C, I, false);
  swiglu_backward(device_.stream, l.gate_up, l.act, l.gate_up, rows, I);
  gemm_.weight_gradient(g + at.gate_up, l.gate_up, 2 * I, l.mid_normed, C, rows, 2 * I, C);
  gemm_.input_gradient(l.mid_normed, C, l.gate_up, 2 * I, w + at.gate_up, rows, 2 * I, C, false);
  rms_norm_backward(device_.stream, s.stream, g + at.post_norm, s.sums, l.mid_normed, s.stream, l.mid, w + at.post_norm,
                    l.mid_factor, rows, C);
}

// attention_backward replaces the gradient of mid by that of in.
template <class T>
void Model<T>::attention_backward(const Activations<T>& a, const Scratch<T>& s, int64_t i, const T* w, float* g,
                                  const Batch& batch) {
  const Layout::Layer& at = layout_.layers[i];
  const LayerActivations<T>& l = a.layers[i];
  const int64_t rows = batch.packed.tokens, C = shape_.C, HD = shape_.H * shape_.D, W = shape_.qkv();
  const int64_t QK = (shape_.H + shape_.K) * shape_.D;
  gemm_.weight_gradient(g + at.out, s.stream, C, l.out, HD, rows, C, HD);
  gemm_.input_gradient(s.out, HD, s.stream, C, w + at.out, rows, C, HD, false);
  attention_->backward({s.qk, QK}, {s.qk + HD, QK}, {s.qkv + QK, W}, {s.out, HD}, {l.out, HD}, l.lse, queries(l), keys(l),
                       values(l), batch.packed);
  qk_norm_rope_backward(device_.stream, s.qkv, g + at.q_norm, g + at.k_norm, s.sums, s.qk, l.qkv, l.qk_factor,
                        w + at.q_norm, w + at.k_norm, batch.packed.positions, rope_.table(), rows, shape_);
  if (a.recompute != Recompute::none) norm_in(l, i, w, rows);
  gemm_.weight_gradient(g + at.qkv, s.qkv, W, l.in_normed, C, rows, W, C);
  gemm_.input_gradient(l.in_normed, C, s.qkv, W, w + at.qkv, rows, W, C, false);
  rms_norm_backward(device_.stream, s.stream, g + at.input_norm, s.sums, l.in_normed, s.stream, l.in, w + at.input_norm,
                    l.in_factor, rows, C);
}

template <class T>
void Model<T>::backward(const Activations<T>& a, const Scratch<T>& s, const T* w, float* g, const Batch& batch) {
  for (int64_t i = shape_.L - 1; i >= 0; i--) {
    // What the last layer shares is as forward left it.
    if (i + 1 < shape_.L) rebuild(a, i, w, batch);
    mlp_backward(a, s, i, w, g, batch.packed.tokens);
    attention_backward(a, s, i, w, g, batch);
  }
  embed_backward(device_.stream, g + layout_.embedding, s.stream, batch.occurrences, shape_.C);
}

template class Model<float>;
template class Model<bf16>;

}  // namespace millrace
