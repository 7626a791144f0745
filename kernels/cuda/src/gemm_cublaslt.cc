// Gemm by cuBLASLt.
//
// A row-major matrix is the column-major matrix of its transpose, which is how cuBLASLt
// sees all of them here: each product below is written as its transpose.
//
// The same call gives the same bits: an algorithm is chosen for a shape (and for the
// alignment of its operands, which arenas and buffers make the same); partial
// sums of a split product are put in the workspace in float32 and added in order by
// a second kernel (the reduction scheme COMPUTE_TYPE; the one that adds them where the
// output is, in the order in which blocks finish, is not allowed); and the workspace
// belongs to this Gemm's stream alone. Products of float32 use no TF32: that is another
// compute type.
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "cublaslt.h"
#include "gemm.h"

namespace millrace {

namespace {

// NVIDIA advises 32 MiB for Hopper (cuBLAS documentation, cublasSetWorkspace).
constexpr size_t workspace_bytes = 32 << 20;

// A call with other rows is another shape, so lengths of packs fill the cache; when it is
// full it starts anew. A choice takes some tens of microseconds.
constexpr size_t most_choices = 8192;

void check(cublasStatus_t result, const std::string& what) {
  if (result == CUBLAS_STATUS_SUCCESS) return;
  Status status = Status::device;
  if (result == CUBLAS_STATUS_INVALID_VALUE) status = Status::invalid;
  if (result == CUBLAS_STATUS_ALLOC_FAILED) status = Status::out_of_memory;
  if (result == CUBLAS_STATUS_NOT_SUPPORTED || result == CUBLAS_STATUS_ARCH_MISMATCH ||
      result == CUBLAS_STATUS_NOT_INITIALIZED) {
    status = Status::unavailable;
  }
  throw Error(status, what + ": " + cublaslt().status_name(result));
}

// Handle destroys what it holds.
template <class T>
class Handle {
 public:
  explicit Handle(cublasStatus_t (*destroy)(T)) : destroy_(destroy) {}
  ~Handle() {
    if (value_) destroy_(value_);
  }
  Handle(Handle&& other) noexcept : destroy_(other.destroy_), value_(std::exchange(other.value_, nullptr)) {}
  T* to_make() { return &value_; }
  operator T() const { return value_; }

 private:
  cublasStatus_t (*destroy_)(T);
  T value_ = nullptr;
};

template <class T>
constexpr cudaDataType_t type_of = CUDA_R_32F;
template <>
constexpr cudaDataType_t type_of<bf16> = CUDA_R_16BF;

// Operand is one column-major matrix of a product.
struct Operand {
  const void* data;
  cudaDataType_t type;
  int64_t ld;
  bool transposed;

  // alignment is the largest power of two that divides the address: some algorithms
  // need 16 bytes, none more than 256.
  uint32_t alignment() const {
    const uintptr_t address = reinterpret_cast<uintptr_t>(data) | 256;
    return static_cast<uint32_t>(address & -address);
  }
  auto key() const { return std::tuple(type, ld, transposed, alignment()); }
};

// Choice is the algorithm of one shape, with the descriptors it was chosen for.
struct Choice {
  Handle<cublasLtMatmulDesc_t> operation;
  Handle<cublasLtMatrixLayout_t> a, b, c;
  cublasLtMatmulAlgo_t algorithm;
};

std::string text(int64_t m, int64_t n, int64_t k) {
  return "product of " + std::to_string(m) + "x" + std::to_string(k) + " and " + std::to_string(k) + "x" +
         std::to_string(n);
}

}  // namespace

struct Gemm::Parts {
  using Key = std::tuple<int64_t, int64_t, int64_t, bool, decltype(Operand().key()), decltype(Operand().key()),
                         decltype(Operand().key())>;

  explicit Parts(const Device& device)
      : stream(device.stream),
        workspace(device, workspace_bytes, "the workspace of matrix products"),
        handle(cublaslt().destroy) {
    check(cublaslt().create(handle.to_make()), "starting cuBLASLt");
  }

  // multiply: c[m,n] = a[m,k] b[k,n], plus c if add, all column-major.
  void multiply(Operand a, Operand b, Operand c, int64_t m, int64_t n, int64_t k, bool add);
  Choice choose(Operand a, Operand b, Operand c, int64_t m, int64_t n, int64_t k);

  cudaStream_t stream;
  Buffer<char> workspace;
  Handle<cublasLtHandle_t> handle;
  std::map<Key, Choice> choices;
};

void Gemm::Parts::multiply(Operand a, Operand b, Operand c, int64_t m, int64_t n, int64_t k, bool add) {
  if (m == 0 || n == 0 || (k == 0 && add)) return;
  const Key key(m, n, k, add, a.key(), b.key(), c.key());
  auto at = choices.find(key);
  if (at == choices.end()) {
    if (choices.size() >= most_choices) choices.clear();
    at = choices.emplace(key, choose(a, b, c, m, n, k)).first;
  }
  const Choice& choice = at->second;
  const float one = 1, beta = add ? 1 : 0;
  const cublasStatus_t result = cublaslt().matmul(handle, choice.operation, &one, a.data, choice.a, b.data, choice.b,
                                                  &beta, c.data, choice.c, const_cast<void*>(c.data), choice.c,
                                                  &choice.algorithm, workspace.data(), workspace_bytes, stream);
  if (result != CUBLAS_STATUS_SUCCESS) check(result, text(m, n, k));  // no text where nothing fails
}

Choice Gemm::Parts::choose(Operand a, Operand b, Operand c, int64_t m, int64_t n, int64_t k) {
  const CublasLt& lt = cublaslt();
  Choice choice{Handle<cublasLtMatmulDesc_t>(lt.operation_destroy),
                Handle<cublasLtMatrixLayout_t>(lt.layout_destroy),
                Handle<cublasLtMatrixLayout_t>(lt.layout_destroy),
                Handle<cublasLtMatrixLayout_t>(lt.layout_destroy),
                {}};
  const std::string what = "describing a " + text(m, n, k);
  check(lt.operation_create(choice.operation.to_make(), CUBLAS_COMPUTE_32F, CUDA_R_32F), what);
  auto transpose = [&](cublasLtMatmulDescAttributes_t which, const Operand& x) {
    const cublasOperation_t operation = x.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(lt.operation_set(choice.operation, which, &operation, sizeof operation), what);
  };
  transpose(CUBLASLT_MATMUL_DESC_TRANSA, a);
  transpose(CUBLASLT_MATMUL_DESC_TRANSB, b);
  auto layout = [&](Handle<cublasLtMatrixLayout_t>& handle, const Operand& x, int64_t rows, int64_t columns) {
    if (x.transposed) std::swap(rows, columns);
    check(lt.layout_create(handle.to_make(), x.type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), x.ld),
          what);
  };
  layout(choice.a, a, m, k);
  layout(choice.b, b, k, n);
  layout(choice.c, c, m, n);

  Handle<cublasLtMatmulPreference_t> preference(lt.preference_destroy);
  check(lt.preference_create(preference.to_make()), what);
  auto prefer = [&](cublasLtMatmulPreferenceAttributes_t which, auto value) {
    check(lt.preference_set(preference, which, &value, sizeof value), what);
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{workspace_bytes});
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, a.alignment());
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, b.alignment());
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, c.alignment());
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, c.alignment());

  cublasLtMatmulHeuristicResult_t result = {};
  int found = 0;
  check(lt.heuristic(handle, choice.operation, choice.a, choice.b, choice.c, choice.c, preference, 1, &result, &found),
        "choosing an algorithm for a " + text(m, n, k));
  if (found == 0) throw Error(Status::unavailable, "cuBLASLt has no algorithm for a " + text(m, n, k));
  check(result.state, "choosing an algorithm for a " + text(m, n, k));
  choice.algorithm = result.algo;
  return choice;
}

Gemm::Gemm(const Device& device) : parts_(new Parts(device)) {}
Gemm::~Gemm() { delete parts_; }

template <class T, class Out>
void Gemm::forward(Out* y, int64_t ldy, const T* x, int64_t ldx, const T* w, int64_t rows, int64_t n, int64_t k) {
  // y^T [N,T] = w [N,K] x^T [K,T].
  parts_->multiply({w, type_of<T>, k, true}, {x, type_of<T>, ldx, false}, {y, type_of<Out>, ldy, false}, n, rows, k,
                   false);
}

template <class T>
void Gemm::input_gradient(T* dx, int64_t lddx, const T* dy, int64_t lddy, const T* w, int64_t rows, int64_t n,
                          int64_t k, bool add) {
  // dx^T [K,T] = w^T [K,N] dy^T [N,T].
  parts_->multiply({w, type_of<T>, k, false}, {dy, type_of<T>, lddy, false}, {dx, type_of<T>, lddx, false}, k, rows, n,
                   add);
}

template <class T>
void Gemm::weight_gradient(float* dw, const T* dy, int64_t lddy, const T* x, int64_t ldx, int64_t rows, int64_t n,
                           int64_t k) {
  // dw^T [K,N] += x^T [K,T] dy [T,N].
  parts_->multiply({x, type_of<T>, ldx, false}, {dy, type_of<T>, lddy, true}, {dw, type_of<float>, k, false}, k, n,
                   rows, true);
}

template void Gemm::forward(float*, int64_t, const float*, int64_t, const float*, int64_t, int64_t, int64_t);
template void Gemm::forward(bf16*, int64_t, const bf16*, int64_t, const bf16*, int64_t, int64_t, int64_t);
template void Gemm::forward(float*, int64_t, const bf16*, int64_t, const bf16*, int64_t, int64_t, int64_t);
template void Gemm::input_gradient(float*, int64_t, const float*, int64_t, const float*, int64_t, int64_t, int64_t,
                                   bool);
template void Gemm::input_gradient(bf16*, int64_t, const bf16*, int64_t, const bf16*, int64_t, int64_t, int64_t, bool);
template void Gemm::weight_gradient(float*, const float*, int64_t, const float*, int64_t, int64_t, int64_t, int64_t);
template void Gemm::weight_gradient(float*, const bf16*, int64_t, const bf16*, int64_t, int64_t, int64_t, int64_t);

}  // namespace millrace
