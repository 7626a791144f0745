// Attention over the paged cache, for decoding (one row a sequence) and for reading a
// prompt in chunks. Keys and values are read once for all query heads of a kv head,
// 16 bytes at a time: decoding is bound by that traffic.
//
// Decoding splits each sequence's parts among blocks and merges their results; reading
// a long prompt has blocks enough without, and keeps the parts in registers. Both give
// the same bits (see paged_part.cuh). Grids depend on the host's bounds alone, so a
// captured graph fits every tick within them; blocks beyond a sequence's end return.
#include <cmath>

#include "paged_part.cuh"

namespace millrace {
namespace paged {
namespace {

constexpr float log2_e = 1.44269504088896341f;

// split_bytes bounds the results of parts in memory when a tick has more than one row
// a sequence; beyond it the rows alone are blocks enough.
constexpr int64_t split_bytes = int64_t{64} << 20;

int64_t divided(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Split is how the parts of a tick are shared among blocks.
struct Split {
  int64_t parts, floats;  // floats of scratch; 0 if a block keeps all parts

  Split(const PagedRows& rows, const Shape& shape) {
    parts = divided(rows.longest, part_tokens(shape.D));
    floats = rows.rows * shape.H * parts * (shape.D + 2);
    const bool many_rows = rows.most_rows > 1 && floats * int64_t{sizeof(float)} > split_bytes;
    if (parts <= 1 || many_rows) floats = 0;
  }
};

// Partial is the result of one part for one query vector in scratch: o [rows,H,parts,D],
// then m and l [rows,H,parts,2].
struct Partial {
  float *o, *statistics;

  __device__ Partial(float* scratch, const PagedRows& rows, int64_t row, int h, int part, int H, int D, int parts) {
    const int64_t at = (row * H + h) * parts + part;
    o = scratch + at * D;
    statistics = scratch + static_cast<int64_t>(rows.rows) * H * parts * D + at * 2;
  }
};

struct Heads {
  int H, K, D;
  float factor;  // D^-1/2 * log2(e): scores are in powers of two
};

// attend: grid [parts or 1, K * blocks of P::vectors query vectors, B]. With scratch each
// block computes part blockIdx.x, without all of them.
template <class P, class T>
__global__ void __launch_bounds__(threads, 2)
    attend(Rows<T> out, float* scratch, Rows<const T> q, PagedCache<T> cache, PagedRows rows, Heads heads) {
  const int H = heads.H, K = heads.K, D = heads.D, group = H / K;
  const int b = blockIdx.z, kv = blockIdx.y % K;
  const int first_row = rows.row_start[b], n = rows.row_start[b + 1] - first_row;
  // Vectors are the heads of the first row, then of the second, and so on. The last
  // ones see most keys and start first.
  const int first = (gridDim.y / K - 1 - blockIdx.y / K) * P::vectors;
  const int count = min(P::vectors, n * group - first);
  if (count <= 0) return;
  const int position = rows.length[b] - n;  // of the first row
  const int visible = position + (first + count - 1) / group + 1;
  const int from = scratch != nullptr ? blockIdx.x : 0;
  const int to = scratch != nullptr ? from + 1 : (visible + P::tokens - 1) / P::tokens;
  if (from * P::tokens >= visible) return;

  const Room<P> room(dynamic_shared<char>());
  for (int i = threadIdx.x; i < count * P::W; i += threads) {
    const int v = first + i / P::W, d = i % P::W;
    const T* head = q.data + (first_row + v / group) * q.stride + (kv * group + v % group) * D;
    room.queries[i] = d < D ? to_float(head[d]) * heads.factor : 0;
  }

  const int own = threadIdx.x / P::pairs, at = threadIdx.x % P::pairs * 2;
  Total total[P::slots];
  float2 sum[P::slots];
#pragma unroll
  for (int i = 0; i < P::slots; i++) sum[i] = {0, 0};

  const int32_t* pages = rows.page_table + static_cast<int64_t>(b) * rows.table_stride;
  for (int part = from; part < to; part++) {
    const int start = part * P::tokens;
    const int n_keys = min(P::tokens, visible - start);
    const int32_t* page = pages + start / page_tokens;
    const int32_t page0 = page[0], page1 = n_keys > page_tokens ? page[1] : page0;
    const Source<T> keys{page_head(cache, page0, 0, kv, K, D), page_head(cache, page1, 0, kv, K, D), n_keys};
    const Source<T> values{page_head(cache, page0, 1, kv, K, D), page_head(cache, page1, 1, kv, K, D), n_keys};
    stage<P>(room, keys, values, D);
    __syncthreads();
    score<P>(room, D, count, [&](int v) { return position + (first + v) / group + 1 - start; });
    __syncthreads();
    soften<P>(room, count);
    if (!P::together) stage_values<P>(room, values, D);
    __syncthreads();
    float2 o[P::slots];
    weigh<P>(o, room, count, n_keys);
#pragma unroll
    for (int i = 0; i < P::slots; i++) {
      const int v = own + i * P::groups;
      if (v >= count) continue;
      if (scratch == nullptr) {
        total[i].fold(room.highest[v], room.sum[v]);
        sum[i] = {total[i].folded(sum[i].x, o[i].x), total[i].folded(sum[i].y, o[i].y)};
        continue;
      }
      const int row = first_row + (first + v) / group, h = kv * group + (first + v) % group;
      const Partial partial(scratch, rows, row, h, part, H, D, gridDim.x);
      if (at < D) partial.o[at] = o[i].x;
      if (at + 1 < D) partial.o[at + 1] = o[i].y;
      if (at == 0) {
        partial.statistics[0] = room.highest[v];
        partial.statistics[1] = room.sum[v];
      }
    }
    __syncthreads();
  }
  if (scratch != nullptr) return;
#pragma unroll
  for (int i = 0; i < P::slots; i++) {
    const int v = own + i * P::groups;
    if (v >= count) continue;
    T* head = out.data + (first_row + (first + v) / group) * out.stride + (kv * group + (first + v) % group) * D;
    if (at < D) head[at] = from_float<T>(sum[i].x / total[i].sum);
    if (at + 1 < D) head[at + 1] = from_float<T>(sum[i].y / total[i].sum);
  }
}

// merge: grid [H, most rows of a sequence, B], a thread for each column.
template <class T>
__global__ void merge(Rows<T> out, float* scratch, PagedRows rows, Heads heads, int parts) {
  const int h = blockIdx.x, b = blockIdx.z, d = threadIdx.x;
  const int first_row = rows.row_start[b], n = rows.row_start[b + 1] - first_row, at = blockIdx.y;
  if (at >= n || d >= heads.D) return;
  const int position = rows.length[b] - n + at, row = first_row + at;
  Total total;
  float sum = 0;
#pragma unroll 4
  for (int part = 0; part <= position / part_tokens(heads.D); part++) {
    const Partial partial(scratch, rows, row, h, part, heads.H, heads.D, parts);
    total.fold(partial.statistics[0], partial.statistics[1]);
    sum = total.folded(sum, partial.o[d]);
  }
  out.data[row * out.stride + h * heads.D + d] = from_float<T>(sum / total.sum);
}

// with_part calls f with the smallest Part that holds the query vectors of a sequence
// and kv head, or with the largest there is.
template <class T, int W, class F>
void with_vectors(int64_t vectors, F f) {
  if (vectors <= 2) return f(Part<T, W, 2>());
  if (vectors <= 4) return f(Part<T, W, 4>());
  if (vectors <= 8) return f(Part<T, W, 8>());
  return f(Part<T, W, (W > 128 ? 16 : 32)>());
}
template <class T, class F>
void with_part(int64_t D, int64_t vectors, F f) {
  if (D <= 64) return with_vectors<T, 64>(vectors, f);
  if (D <= 128) return with_vectors<T, 128>(vectors, f);
  return with_vectors<T, 256>(vectors, f);
}

}  // namespace
}  // namespace paged

size_t paged_attention_scratch(const PagedRows& rows, const Shape& shape) { return paged::Split(rows, shape).floats; }

template <class T>
void paged_attention(cudaStream_t stream, Rows<T> out, float* scratch, Rows<const T> q, PagedCache<T> cache,
                     const PagedRows& rows, const Shape& shape) {
  if (rows.rows == 0) return;
  if (shape.D > 256)
    throw Error(Status::invalid, "attention with a head dimension of " + std::to_string(shape.D) + ": at most 256");
  const paged::Split split(rows, shape);
  const paged::Heads heads{static_cast<int>(shape.H), static_cast<int>(shape.K), static_cast<int>(shape.D),
                           paged::log2_e / std::sqrt(static_cast<float>(shape.D))};
  const int64_t vectors = rows.most_rows * (shape.H / shape.K);
  float* results = split.floats > 0 ? scratch : nullptr;
  paged::with_part<T>(shape.D, vectors, [&](auto part) {
    using P = decltype(part);
    const int64_t blocks = shape.K * paged::divided(vectors, P::vectors);
    const dim3 grid(results != nullptr ? split.parts : 1, blocks, rows.sequences);
    launch(paged::attend<P, T>, grid, dim3(paged::threads), P::shared, stream, out, results, q, cache, rows, heads);
  });
  if (results == nullptr) return;
  const dim3 grid(shape.H, rows.most_rows, rows.sequences);
  launch(paged::merge<T>, grid, dim3(paged::divided(shape.D, 32) * 32), size_t{0}, stream, out, results, rows, heads,
         static_cast<int>(split.parts));
}

template void paged_attention(cudaStream_t, Rows<float>, float*, Rows<const float>, PagedCache<float>, const PagedRows&,
                              const Shape&);
template void paged_attention(cudaStream_t, Rows<bf16>, float*, Rows<const bf16>, PagedCache<bf16>, const PagedRows&,
                              const Shape&);

}  // namespace millrace
