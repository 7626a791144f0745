// The kernels between the matrix products. Each function launches on the stream and
// returns. Sums have an order that depends on shapes alone, so results are equal
// to the bit from run to run: no atomics on numbers. A row's own result depends on no
// other row. Gradients are float arithmetic on the stored values of format T, rounded
// once when they are stored.
//
// Tokens, rows and positions are not checked: the caller has. Calls with no rows do
// nothing.
#pragma once

#include <cuda_runtime.h>

#include "number.h"
#include "shape.h"

namespace millrace {

// embed: out[r] = table[tokens[r]].
template <class T>
void embed(cudaStream_t stream, T* out, const T* table, const int32_t* tokens, int64_t rows, int64_t C);

// Occurrences lists where each distinct token of a pack stands, so that the
// embedding's gradient is a sum in order: token unique[u] stands in the rows
// row[offset[u] .. offset[u+1]).
struct Occurrences {
  const int32_t *unique, *offset, *row;  // on the device
  int32_t count;
};
// embed_backward: dtable[unique[u]] += sum of dout over its rows.
template <class T>
void embed_backward(cudaStream_t stream, float* dtable, const T* dout, const Occurrences& at, int64_t C);

// rms_norm: factor[r] = rsqrt(mean(x[r]^2) + eps), out = weight * round(x*factor).
// factor may be null. C is at most 8192, else Status::invalid is thrown.
template <class T>
void rms_norm(cudaStream_t stream, T* out, float* factor, const T* x, const T* weight, int64_t rows, int64_t C,
              float eps);
// add_rms_norm: sum = round(x + y), then as rms_norm of sum. sum may be x.
template <class T>
void add_rms_norm(cudaStream_t stream, T* sum, T* out, float* factor, const T* x, const T* y, const T* weight,
                  int64_t rows, int64_t C, float eps);
// rms_norm_backward: dx[r] = gradient of the norm + dsum[r] (null adds nothing;
// dsum may be dx), dweight += its gradient, in float. scratch has
// rms_norm_scratch(rows, C) floats.
size_t rms_norm_scratch(int64_t rows, int64_t C);
template <class T>
void rms_norm_backward(cudaStream_t stream, T* dx, float* dweight, float* scratch, const T* dout, const T* dsum,
                       const T* x, const T* weight, const float* factor, int64_t rows, int64_t C);

// RopeTable holds cos and sin of position * theta^(-2i/D) for i < D/2, rounded to T
// as Hugging Face rounds them: [positions, D/2] each.
template <class T>
struct RopeTable {
  const T *cos, *sin;
};
// make_rope fills a table; angles are products in float32 as Hugging Face's.
template <class T>
void make_rope(cudaStream_t stream, T* cos, T* sin, int64_t positions, int64_t D, double theta);

// qk_norm_rope normalises each query and key head of qkv [R,(H+2K)*D], rotates it by
// its position, and writes qk [R,(H+K)*D]. Values stay where they are in qkv.
// factor [R,H+K] may be null. D is even and at most 256, else Status::invalid is thrown.
template <class T>
void qk_norm_rope(cudaStream_t stream, T* qk, float* factor, const T* qkv, const T* q_weight, const T* k_weight,
                  const int32_t* positions, RopeTable<T> rope, int64_t rows, const Shape& shape);
// qk_norm_rope_backward turns dqk into the first (H+K)*D columns of dqkv and adds to
// the two weights' gradients. dv is already in dqkv's last K*D columns.
size_t qk_norm_rope_scratch(int64_t rows, const Shape& shape);
template <class T>
void qk_norm_rope_backward(cudaStream_t stream, T* dqkv, float* dq_weight, float* dk_weight, float* scratch,
                           const T* dqk, const T* qkv, const float* factor, const T* q_weight, const T* k_weight,
                           const int32_t* positions, RopeTable<T> rope, int64_t rows, const Shape& shape);

// swiglu: out[R,I] = round(silu(gate)) * up, of gate_up [R,2I] (gate first).
template <class T>
void swiglu(cudaStream_t stream, T* out, const T* gate_up, int64_t rows, int64_t I);
// swiglu_backward: d_gate_up may be gate_up.
template <class T>
void swiglu_backward(cudaStream_t stream, T* d_gate_up, const T* d_out, const T* gate_up, int64_t rows, int64_t I);

// add: x += y.
template <class T>
void add(cudaStream_t stream, T* x, const T* y, int64_t n);
// gather: out[i] = x[rows[i]]; scatter_add: x[rows[i]] += y[i], rows distinct.
template <class T>
void gather(cudaStream_t stream, T* out, const T* x, const int32_t* rows, int64_t n, int64_t C);
template <class T>
void scatter_add(cudaStream_t stream, T* x, const T* y, const int32_t* rows, int64_t n, int64_t C);

// AdamStep are the numbers of one optimizer step, as kernels.AdamW in Go.
struct AdamStep {
  double learning_rate, beta1, beta2, epsilon, weight_decay;
  double clip_norm;  // 0 does not clip
  int64_t step;      // counted from 1
};
// GradientNorm is what clipping needs, on the device: no step waits for the host.
struct GradientNorm {
  double norm;
  float scale;      // min(1, clip_norm/(norm + 1e-6)); 0 if the norm is not finite
  int32_t finite;
};
// gradient_norm: of n gradients; a clip_norm of 0 does not clip. scratch has
// gradient_norm_scratch(n) doubles.
size_t gradient_norm_scratch(int64_t n);
void gradient_norm(cudaStream_t stream, GradientNorm* result, double* scratch, const float* gradients, int64_t n,
                   double clip_norm);
// adamw updates n weights, scaled by norm, and clears their gradients. In format bf16 a
// weight's float32 value is its bits with remainder as the lower 16, the rounding
// undone (master.h); in format float remainder is null. written is where the new
// weights go, weight itself or another buffer. A norm that is not finite leaves moments
// and remainder alone, and written gets the weights as they were.
template <class T>
void adamw(cudaStream_t stream, T* written, const T* weight, uint16_t* remainder, float* m, float* v, float* gradient,
           int64_t n, const AdamStep& step, const GradientNorm* norm);

}  // namespace millrace
