// Causal grouped-query attention, scaled by D^-1/2: over packed sequences for
// training and for reading prompts, and over a paged cache for generation.
#pragma once

#include <memory>

#include "device.h"
#include "number.h"
#include "shape.h"

namespace millrace {

// Rows is a matrix of heads: head h of row r begins at data + r*stride + h*D.
template <class T>
struct Rows {
  T* data;
  int64_t stride;
};

// Attention is the training kernel: cuDNN's where the format is bf16 and the
// library can be opened, else our own tiles.
template <class T>
class Attention {
 public:
  virtual ~Attention() = default;
  // forward: out [T,H], and lse [T,H] (log-sum-exp of the scaled scores, for
  // backward; its layout is the implementation's).
  virtual void forward(Rows<T> out, float* lse, Rows<const T> q, Rows<const T> k, Rows<const T> v, const Packed& packed) = 0;
  virtual void backward(Rows<T> dq, Rows<T> dk, Rows<T> dv, Rows<const T> dout, Rows<const T> out, const float* lse,
                        Rows<const T> q, Rows<const T> k, Rows<const T> v, const Packed& packed) = 0;
  virtual size_t lse_floats(const Packed& packed) const = 0;
  virtual const char* name() const = 0;  // for the report: "cudnn 9.19.1" or "tiles"
};

// tiled_attention needs nothing but CUDA; cudnn_attention throws
// Status::unavailable, naming what is missing.
template <class T>
std::unique_ptr<Attention<T>> tiled_attention(const Device& device, const Shape& shape);
std::unique_ptr<Attention<bf16>> cudnn_attention(const Device& device, const Shape& shape);

// page_tokens is the number of positions in a page of the cache.
constexpr int page_tokens = 64;

// PagedCache is one layer's keys and values: [pages][2][K][page_tokens][D], keys
// first.
template <class T>
struct PagedCache {
  T* data;
};

// PagedRows says which rows of a tick belong to which sequence. Everything is on the
// device.
struct PagedRows {
  const int32_t* row_start;   // [B+1] first row of each sequence in the tick
  const int32_t* length;      // [B] positions in the cache after the tick's rows are written
  const int32_t* page_table;  // [B, table_stride] pages of each sequence
  int32_t sequences, rows, table_stride;
  int32_t longest;            // an upper bound of length, for the split
  int32_t most_rows;          // of one sequence: 1 when all decode
};

// write_cache copies the tick's keys (of qk, after norm and rotation) and values (of
// qkv) into their pages.
template <class T>
void write_cache(cudaStream_t stream, PagedCache<T> cache, Rows<const T> k, Rows<const T> v, const int32_t* positions,
                 const PagedRows& rows, const Shape& shape);
// paged_attention: out [R,H]. A sequence's keys are split among blocks in parts whose
// size depends on its length alone, so its result does not depend on the batch.
// scratch has paged_attention_scratch floats.
size_t paged_attention_scratch(const PagedRows& rows, const Shape& shape);
template <class T>
void paged_attention(cudaStream_t stream, Rows<T> out, float* scratch, Rows<const T> q, PagedCache<T> cache,
                     const PagedRows& rows, const Shape& shape);

}  // namespace millrace
