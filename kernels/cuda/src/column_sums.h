// The second stage of a sum over rows: the first leaves a partial sum of every column
// for each of its blocks, and the blocks' number depends on shapes alone.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace millrace {

// partial_blocks bounds the blocks of a first stage: four for each of an H200's 132
// processors. Other devices have the same number, so that sums have one order
// everywhere.
constexpr int partial_blocks = 528;

// ColumnSums is one such sum: total[c] += partial[0][c] + partial[1][c] + ..., with
// partial [parts, C].
struct ColumnSums {
  float* total;
  const float* partial;
  int parts;
};

void add_columns(cudaStream_t stream, int64_t C, ColumnSums sums);
// add_columns of two sums is one launch.
void add_columns(cudaStream_t stream, int64_t C, ColumnSums first, ColumnSums second);

}  // namespace millrace
