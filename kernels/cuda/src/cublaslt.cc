#include "cublaslt.h"

#include "dynamic_library.h"

namespace millrace {

const CublasLt& cublaslt() {
  static const CublasLt functions = [] {
    DynamicLibrary library({"libcublasLt.so.13", "libcublasLt.so.12"}, "multiplying matrices");
    CublasLt f;
    library.function(f.version, "cublasLtGetVersion");
    library.function(f.status_name, "cublasLtGetStatusName");
    library.function(f.create, "cublasLtCreate");
    library.function(f.destroy, "cublasLtDestroy");
    library.function(f.operation_create, "cublasLtMatmulDescCreate");
    library.function(f.operation_destroy, "cublasLtMatmulDescDestroy");
    library.function(f.operation_set, "cublasLtMatmulDescSetAttribute");
    library.function(f.layout_create, "cublasLtMatrixLayoutCreate");
    library.function(f.layout_destroy, "cublasLtMatrixLayoutDestroy");
    library.function(f.preference_create, "cublasLtMatmulPreferenceCreate");
    library.function(f.preference_destroy, "cublasLtMatmulPreferenceDestroy");
    library.function(f.preference_set, "cublasLtMatmulPreferenceSetAttribute");
    library.function(f.heuristic, "cublasLtMatmulAlgoGetHeuristic");
    library.function(f.matmul, "cublasLtMatmul");
    return f;
  }();
  return functions;
}

}  // namespace millrace
