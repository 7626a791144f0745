// Runs once a checkpoint, between copies over the bus that take many times as long: one
// value a thread.
#include "masters.h"

#include "device.h"
#include "master.h"

namespace millrace {
namespace {

constexpr int threads = 256;

dim3 blocks(int64_t n) { return dim3(static_cast<unsigned>((n + threads - 1) / threads)); }

__global__ void split_masters(bf16* weight, uint16_t* remainder, const float* master, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= n) return;
  const Master parts = split_master(master[i]);
  weight[i] = parts.weight;
  remainder[i] = parts.remainder;
}

__global__ void join_masters(float* master, const bf16* weight, const uint16_t* remainder, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < n) master[i] = join_master(weight[i], remainder[i]);
}

void copy(cudaStream_t stream, float* to, const float* from, int64_t n) {
  check(cudaMemcpyAsync(to, from, n * sizeof(float), cudaMemcpyDeviceToDevice, stream), "copying weights");
}

}  // namespace

void split(cudaStream_t stream, float* weight, uint16_t*, const float* master, int64_t n) {
  copy(stream, weight, master, n);
}

void join(cudaStream_t stream, float* master, const float* weight, const uint16_t*, int64_t n) {
  copy(stream, master, weight, n);
}

void split(cudaStream_t stream, bf16* weight, uint16_t* remainder, const float* master, int64_t n) {
  launch(split_masters, blocks(n), dim3(threads), 0, stream, weight, remainder, master, n);
}

void join(cudaStream_t stream, float* master, const bf16* weight, const uint16_t* remainder, int64_t n) {
  launch(join_masters, blocks(n), dim3(threads), 0, stream, master, weight, remainder, n);
}

}  // namespace millrace
