// The table of rotations. Like Hugging Face's it rounds the frequency and the angle
// to float before the cosine is taken: at position 2000 that moves an angle by 1e-4,
// which an exact angle would show as a difference.
//
//	frequency[i] = round(theta^(-2i/D))         for i < D/2
//	angle[p][i]  = round(p * frequency[i])
//
// A table is made once for a policy, so powers and cosines are taken in double.
#include "device.h"
#include "kernels.h"
#include "row.cuh"

namespace millrace {
namespace {

constexpr int threads = 256;

template <class T>
__global__ void __launch_bounds__(threads)
    fill_rope(T* cos_table, T* sin_table, int64_t entries, int64_t half, double theta) {
  const int64_t entry = int64_t{blockIdx.x} * threads + threadIdx.x;
  if (entry >= entries) return;
  const int64_t position = entry / half, i = entry % half;
  const float frequency = static_cast<float>(pow(theta, -static_cast<double>(i) / static_cast<double>(half)));
  const float angle = static_cast<float>(position) * frequency;
  cos_table[entry] = from_float<T>(static_cast<float>(cos(static_cast<double>(angle))));
  sin_table[entry] = from_float<T>(static_cast<float>(sin(static_cast<double>(angle))));
}

}  // namespace

template <class T>
void make_rope(cudaStream_t stream, T* cos, T* sin, int64_t positions, int64_t D, double theta) {
  const int64_t entries = positions * (D / 2);
  if (entries == 0) return;
  launch(fill_rope<T>, dim3(blocks_for(entries, threads)), dim3(threads), 0, stream, cos, sin, entries, D / 2, theta);
}

template void make_rope(cudaStream_t, float*, float*, int64_t, int64_t, double);
template void make_rope(cudaStream_t, bf16*, bf16*, int64_t, int64_t, double);

}  // namespace millrace
