#include "column_sums.h"

#include "device.h"
#include "row.cuh"

namespace millrace {
namespace {

constexpr int columns = 32;  // of a block: a warp reads 128 bytes of a partial row
constexpr int groups = 16;   // of partial rows, read side by side

__global__ void __launch_bounds__(columns* groups) sum_columns(int64_t C, ColumnSums first, ColumnSums second) {
  __shared__ float group_sum[groups][columns];
  const ColumnSums sums = blockIdx.y == 0 ? first : second;
  const int64_t c = int64_t{blockIdx.x} * columns + threadIdx.x;
  float total = 0;
  if (c < C) {
#pragma unroll 4
    for (int p = threadIdx.y; p < sums.parts; p += groups) total += sums.partial[p * C + c];
  }
  group_sum[threadIdx.y][threadIdx.x] = total;
  __syncthreads();
  if (threadIdx.y != 0 || c >= C) return;
  for (int g = 1; g < groups; g++) total += group_sum[g][threadIdx.x];
  sums.total[c] += total;
}

}  // namespace

void add_columns(cudaStream_t stream, int64_t C, ColumnSums sums) {
  launch(sum_columns, dim3(blocks_for(C, columns)), dim3(columns, groups), 0, stream, C, sums, ColumnSums{});
}

void add_columns(cudaStream_t stream, int64_t C, ColumnSums first, ColumnSums second) {
  launch(sum_columns, dim3(blocks_for(C, columns), 2), dim3(columns, groups), 0, stream, C, first, second);
}

}  // namespace millrace
