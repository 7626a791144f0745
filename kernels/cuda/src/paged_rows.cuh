// Where the rows and keys of a tick are.
#pragma once

#include "attention.h"

namespace millrace {
namespace paged {

// sequence_of finds the sequence of a row, or -1 if the row is behind the last one.
// Sequences without rows own none.
__device__ inline int sequence_of(const PagedRows& rows, int row) {
  int low = 0, high = rows.sequences;  // row_start[low] <= row < row_start[high], once high has a bound
  if (row >= rows.row_start[high]) return -1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (rows.row_start[middle] <= row)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// page_head is where the keys (kind 0) or values (kind 1) of one kv head begin in a
// page: [page_tokens][D].
template <class T>
__device__ inline T* page_head(PagedCache<T> cache, int32_t page, int kind, int kv, int K, int D) {
  return cache.data + ((static_cast<int64_t>(page) * 2 + kind) * K + kv) * page_tokens * D;
}

}  // namespace paged
}  // namespace millrace
