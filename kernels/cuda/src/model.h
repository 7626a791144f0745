// The layers of a policy over packed sequences: forward, and backward into float32
// gradients.
//
// What forward leaves for backward is chosen by Recompute; what is not left is computed
// again by the same kernels from the same values, so the gradients' bits do not
// depend on the choice.
#pragma once

#include <memory>
#include <vector>

#include "attention.h"
#include "device.h"
#include "gemm.h"
#include "kernels.h"
#include "number.h"
#include "rope_tables.h"
#include "shape.h"
#include "weights.h"

namespace millrace {

// Recompute is what backward computes again. The values are part of the ABI.
enum class Recompute : int32_t {
  automatic = 0,  // the first of the next three that fits into free memory
  none = 1,
  cheap = 2,  // norms, rotation and SwiGLU: no matrix product
  block = 3,  // each layer from its input
};

// Batch is a pack as the device needs it.
struct Batch {
  Packed packed;
  const int32_t* tokens;  // [T]
  Occurrences occurrences;  // read by backward alone
};

// LayerActivations are one layer's values. With recomputation layers share some of these.
template <class T>
struct LayerActivations {
  T* in;           // [T,C] residual stream before the layer
  T* in_normed;    // [T,C]
  T* qkv;          // [T,(H+2K)D]
  T* qk;           // [T,(H+K)D] queries and keys after norm and rotation
  T* out;          // [T,H*D] attention
  T* mid;          // [T,C] residual stream between attention and MLP
  T* mid_normed;   // [T,C]
  T* gate_up;      // [T,2I]
  T* act;          // [T,I]
  float* in_factor;   // [T]
  float* qk_factor;   // [T,H+K]
  float* mid_factor;  // [T]
  float* lse;
};

template <class T>
struct Activations {
  Recompute recompute;
  std::vector<LayerActivations<T>> layers;
  T* branch;  // [T,C] what attention or MLP adds to the residual stream; after forward, the last MLP's
};

// Scratch is what backward takes besides. The stream is the caller's.
template <class T>
struct Scratch {
  T* stream;  // [T,C] gradient of the residual stream
  T* qk;      // [T,(H+K)D]
  T* qkv;     // [T,(H+2K)D]
  T* out;     // [T,H*D]
  float* sums;
};

template <class T>
class Model {
 public:
  Model(const Device& device, Gemm& gemm, const Shape& shape, const Layout& layout);

  // The lay functions take from the arena; while it counts, what they return must not
  // be used. A pass that nothing follows backward keeps one layer.
  Activations<T> lay_forward(Arena& arena, const Packed& packed, Recompute recompute, bool backward) const;
  Scratch<T> lay_backward(Arena& arena, const Packed& packed, T* stream) const;

  // prepare makes room for sequences of this many tokens.
  void prepare(int64_t longest) { rope_.prepare(longest); }

  // forward ends with the residual stream as two summands: mid of the last layer, and
  // branch. The final norm belongs to the head's rows.
  void forward(const Activations<T>& a, const T* weights, const Batch& batch);
  // backward adds to gradients, given in scratch.stream the gradient of the residual
  // stream behind the last layer. It spoils a.
  void backward(const Activations<T>& a, const Scratch<T>& scratch, const T* weights, float* gradients, const Batch& batch);

  const char* attention() const { return attention_->name(); }
  // refused is why cuDNN's attention is not used, empty if it is or was not asked for.
  const std::string& refused() const { return refused_; }

 private:
  void norm_in(const LayerActivations<T>& l, int64_t i, const T* weights, int64_t rows);
  void layer(const Activations<T>& a, int64_t i, const T* weights, const Batch& batch);
  void rebuild(const Activations<T>& a, int64_t i, const T* weights, const Batch& batch);
  void rotate(const LayerActivations<T>& l, int64_t i, const T* weights, const Batch& batch);
  void mlp_backward(const Activations<T>& a, const Scratch<T>& s, int64_t i, const T* weights, float* gradients, int64_t rows);
  void attention_backward(const Activations<T>& a, const Scratch<T>& s, int64_t i, const T* weights, float* gradients,
                          const Batch& batch);
  Rows<const T> queries(const LayerActivations<T>& l) const { return {l.qk, (shape_.H + shape_.K) * shape_.D}; }
  Rows<const T> keys(const LayerActivations<T>& l) const { return {l.qk + shape_.H * shape_.D, (shape_.H + shape_.K) * shape_.D}; }
  Rows<const T> values(const LayerActivations<T>& l) const { return {l.qkv + (shape_.H + shape_.K) * shape_.D, shape_.qkv()}; }

  const Device& device_;
  Gemm& gemm_;
  const Shape shape_;
  const Layout& layout_;
  std::string refused_;  // written while attention_ is made
  std::unique_ptr<Attention<T>> attention_;
  RopeTables<T> rope_;
};

}  // namespace millrace
