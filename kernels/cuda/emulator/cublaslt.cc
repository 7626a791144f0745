// cuBLASLt on the CPU. It checks what the real one does: that the shapes of operands and
// layouts agree, and that an algorithm is used with the operands, and at the alignment,
// it was chosen for.
#include "../src/cublaslt.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "include/cuda_bf16.h"
#include "memory.h"
#include "stream.h"

struct cublasLtContext {};
struct cublasLtMatmulDescOpaque {
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
};
struct cublasLtMatrixLayoutOpaque {
  cudaDataType_t type;
  int64_t rows, columns, ld;

  size_t item() const { return type == CUDA_R_16BF ? 2 : 4; }
  size_t bytes() const { return static_cast<size_t>((columns - 1) * ld + rows) * item(); }
};
struct cublasLtMatmulPreferenceOpaque {
  uint32_t alignment[4] = {256, 256, 256, 256};
};

namespace {

// Choice is what an algorithm remembers of its heuristic, in its opaque words.
struct Choice {
  uint32_t alignment[4];
  int32_t m, n, k, types;
};
static_assert(sizeof(Choice) <= sizeof(cublasLtMatmulAlgo_t), "fits an algorithm");

struct Product {
  const cublasLtMatmulDescOpaque* operation;
  const cublasLtMatrixLayoutOpaque *a, *b, *c, *d;

  int64_t m() const { return d->rows; }
  int64_t n() const { return d->columns; }
  int64_t k() const { return operation->a == CUBLAS_OP_N ? a->columns : a->rows; }
  bool fits() const {
    const bool ta = operation->a == CUBLAS_OP_T, tb = operation->b == CUBLAS_OP_T;
    return (ta ? a->columns : a->rows) == m() && (tb ? b->columns : b->rows) == k() &&
           (tb ? b->rows : b->columns) == n() && c->rows == m() && c->columns == n();
  }
  // bf16 operands give bf16 or float, float operands float.
  bool supported() const {
    return a->type == b->type && c->type == d->type && (a->type == CUDA_R_16BF || d->type == CUDA_R_32F);
  }
  Choice choice() const {
    return {
        {}, static_cast<int32_t>(m()), static_cast<int32_t>(n()), static_cast<int32_t>(k()), a->type * 256 + d->type};
  }
};

float load(const void* data, cudaDataType_t type, int64_t at) {
  if (type == CUDA_R_32F) return static_cast<const float*>(data)[at];
  return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[at]);
}

void store(void* data, cudaDataType_t type, int64_t at, float value) {
  if (type == CUDA_R_32F)
    static_cast<float*>(data)[at] = value;
  else
    static_cast<__nv_bfloat16*>(data)[at] = __float2bfloat16_rn(value);
}

// unpacked is op(x) [rows, columns] column-major in float.
std::vector<float> unpacked(const void* data, const cublasLtMatrixLayoutOpaque& x, bool transposed) {
  const int64_t rows = transposed ? x.columns : x.rows, columns = transposed ? x.rows : x.columns;
  std::vector<float> all(static_cast<size_t>(rows * columns));
  for (int64_t j = 0; j < columns; j++) {
    for (int64_t i = 0; i < rows; i++) all[j * rows + i] = load(data, x.type, transposed ? i * x.ld + j : j * x.ld + i);
  }
  return all;
}

__attribute__((optimize("O3"))) void add_scaled(float* sum, const float* x, float by, int64_t n) {
  for (int64_t i = 0; i < n; i++) sum[i] += x[i] * by;
}

void multiply(const cublasLtMatmulDescOpaque& operation, float alpha, const void* a,
              const cublasLtMatrixLayoutOpaque& la, const void* b, const cublasLtMatrixLayoutOpaque& lb, float beta,
              const void* c, const cublasLtMatrixLayoutOpaque& lc, void* d, const cublasLtMatrixLayoutOpaque& ld) {
  const std::vector<float> left = unpacked(a, la, operation.a == CUBLAS_OP_T);
  const std::vector<float> right = unpacked(b, lb, operation.b == CUBLAS_OP_T);
  const int64_t m = ld.rows, n = ld.columns, k = operation.a == CUBLAS_OP_N ? la.columns : la.rows;
  std::vector<float> column(static_cast<size_t>(m));
  for (int64_t j = 0; j < n; j++) {
    std::fill(column.begin(), column.end(), 0.0f);
    for (int64_t p = 0; p < k; p++) add_scaled(column.data(), &left[p * m], right[j * k + p], m);
    for (int64_t i = 0; i < m; i++) {
      // A beta of 0 does not read c, which may be NaN.
      const float old = beta == 0 ? 0 : beta * load(c, lc.type, j * lc.ld + i);
      store(d, ld.type, j * ld.ld + i, alpha * column[i] + old);
    }
  }
}

bool aligned(const void* data, uint32_t to) { return reinterpret_cast<uintptr_t>(data) % to == 0; }

}  // namespace

size_t cublasLtGetVersion() { return 130000; }

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "unknown status";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  if (compute != CUBLAS_COMPUTE_32F || scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  *operation = new cublasLtMatmulDescOpaque;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  delete operation;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  cublasOperation_t& which = attribute == CUBLASLT_MATMUL_DESC_TRANSA ? operation->a : operation->b;
  if (bytes != sizeof which) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&which, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
  if (ld < static_cast<int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  *layout = new cublasLtMatrixLayoutOpaque{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), ld};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new cublasLtMatmulPreferenceOpaque;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return bytes == sizeof(uint64_t) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return bytes == sizeof(uint32_t) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
    default:
      if (bytes != sizeof(uint32_t)) return CUBLAS_STATUS_INVALID_VALUE;
      std::memcpy(&preference->alignment[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value, bytes);
      return CUBLAS_STATUS_SUCCESS;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  const Product product{operation, a, b, c, d};
  *found = 0;
  if (most < 1 || !product.fits()) return CUBLAS_STATUS_INVALID_VALUE;
  if (!product.supported()) return CUBLAS_STATUS_NOT_SUPPORTED;
  Choice choice = product.choice();
  std::memcpy(choice.alignment, preference->alignment, sizeof choice.alignment);
  results[0] = {};
  std::memcpy(&results[0].algo, &choice, sizeof choice);
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void*, size_t,
                              cudaStream_t stream) {
  const Product product{operation, a_layout, b_layout, c_layout, d_layout};
  if (!product.fits()) return CUBLAS_STATUS_INVALID_VALUE;
  const float one = *static_cast<const float*>(alpha), add = *static_cast<const float*>(beta);
  Choice chosen, now = product.choice();
  std::memcpy(&chosen, algorithm, sizeof chosen);
  if (chosen.m != now.m || chosen.n != now.n || chosen.k != now.k || chosen.types != now.types)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const void* data[4] = {a, b, c, d};
  for (int i = 0; i < 4; i++) {
    if (!aligned(data[i], chosen.alignment[i])) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (!emulator::inside(a, a_layout->bytes()) || !emulator::inside(b, b_layout->bytes()) ||
      !emulator::inside(d, d_layout->bytes())) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  // The descriptors may be gone when a graph is launched.
  auto work = [=, op = *operation, la = *a_layout, lb = *b_layout, lc = *c_layout, ld = *d_layout] {
    multiply(op, one, a, la, b, lb, add, c, lc, d, ld);
  };
  return emulator::submit(stream, work) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

const millrace::CublasLt& millrace::cublaslt() {
  static const CublasLt functions = {
      cublasLtGetVersion,
      cublasLtGetStatusName,
      cublasLtCreate,
      cublasLtDestroy,
      cublasLtMatmulDescCreate,
      cublasLtMatmulDescDestroy,
      cublasLtMatmulDescSetAttribute,
      cublasLtMatrixLayoutCreate,
      cublasLtMatrixLayoutDestroy,
      cublasLtMatmulPreferenceCreate,
      cublasLtMatmulPreferenceDestroy,
      cublasLtMatmulPreferenceSetAttribute,
      cublasLtMatmulAlgoGetHeuristic,
      cublasLtMatmul,
  };
  return functions;
}
