// Matrix products. All matrices are row-major, products are accumulated in
// float32, and the same call on the same shapes gives the same bits.
#pragma once

#include "device.h"
#include "number.h"

namespace millrace {

// Gemm keeps the handles, the chosen algorithms by shape, and their workspace.
class Gemm {
 public:
  explicit Gemm(const Device& device);
  ~Gemm();

  // forward: y[T,N] = x[T,K] w[N,K]^T.
  template <class T, class Out>
  void forward(Out* y, int64_t ldy, const T* x, int64_t ldx, const T* w, int64_t rows, int64_t n, int64_t k);
  // input_gradient: dx[T,K] = dy[T,N] w[N,K]; add adds to dx.
  template <class T>
  void input_gradient(T* dx, int64_t lddx, const T* dy, int64_t lddy, const T* w, int64_t rows, int64_t n, int64_t k, bool add);
  // weight_gradient: dw[N,K] += dy[T,N]^T x[T,K], dw in float32.
  template <class T>
  void weight_gradient(float* dw, const T* dy, int64_t lddy, const T* x, int64_t ldx, int64_t rows, int64_t n, int64_t k);

 private:
  struct Parts;
  Parts* parts_;
};

}  // namespace millrace
