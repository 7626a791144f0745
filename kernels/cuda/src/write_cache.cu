// Keys and values of a tick into their pages.
#include "paged_rows.cuh"

namespace millrace {
namespace {

// write: a block for each row of the tick. N values a thread and turn.
template <int N, class T>
__global__ void write(PagedCache<T> cache, Rows<const T> k, Rows<const T> v, const int32_t* positions, PagedRows rows,
                      int K, int D) {
  struct alignas(N * sizeof(T)) Piece {
    T value[N];
  };
  const int row = blockIdx.x, b = paged::sequence_of(rows, row);
  if (b < 0) return;
  const int position = positions[row];
  const int32_t page = rows.page_table[static_cast<int64_t>(b) * rows.table_stride + position / page_tokens];
  const int slot = position % page_tokens;
  for (int i = threadIdx.x * N; i < 2 * K * D; i += blockDim.x * N) {
    const int kind = i / (K * D), at = i % (K * D);
    const T* from = kind == 0 ? k.data + row * k.stride + at : v.data + row * v.stride + at;
    T* to = paged::page_head(cache, page, kind, at / D, K, D) + slot * D + at % D;
    *reinterpret_cast<Piece*>(to) = *reinterpret_cast<const Piece*>(from);
  }
}

template <class T>
bool aligned(const void* data, int64_t stride) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0 && stride % Vector<T>::size == 0;
}

}  // namespace

template <class T>
void write_cache(cudaStream_t stream, PagedCache<T> cache, Rows<const T> k, Rows<const T> v, const int32_t* positions,
                 const PagedRows& rows, const Shape& shape) {
  if (rows.rows == 0) return;
  constexpr int size = Vector<T>::size;
  const int K = shape.K, D = shape.D;
  const bool wide = D % size == 0 && aligned<T>(k.data, k.stride) && aligned<T>(v.data, v.stride);
  const auto kernel = wide ? write<size, T> : write<1, T>;
  launch(kernel, dim3(rows.rows), dim3(128), size_t{0}, stream, cache, k, v, positions, rows, K, D);
}

template void write_cache(cudaStream_t, PagedCache<float>, Rows<const float>, Rows<const float>, const int32_t*,
                          const PagedRows&, const Shape&);
template void write_cache(cudaStream_t, PagedCache<bf16>, Rows<const bf16>, Rows<const bf16>, const int32_t*,
                          const PagedRows&, const Shape&);

}  // namespace millrace
