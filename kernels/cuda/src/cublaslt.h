// The functions of cuBLASLt, opened at run time.
#pragma once

#include <cublasLt.h>

namespace millrace {

struct CublasLt {
  decltype(cublasLtGetVersion)* version;
  decltype(cublasLtGetStatusName)* status_name;
  decltype(cublasLtCreate)* create;
  decltype(cublasLtDestroy)* destroy;
  decltype(cublasLtMatmulDescCreate)* operation_create;
  decltype(cublasLtMatmulDescDestroy)* operation_destroy;
  decltype(cublasLtMatmulDescSetAttribute)* operation_set;
  decltype(cublasLtMatrixLayoutCreate)* layout_create;
  decltype(cublasLtMatrixLayoutDestroy)* layout_destroy;
  decltype(cublasLtMatmulPreferenceCreate)* preference_create;
  decltype(cublasLtMatmulPreferenceDestroy)* preference_destroy;
  decltype(cublasLtMatmulPreferenceSetAttribute)* preference_set;
  decltype(cublasLtMatmulAlgoGetHeuristic)* heuristic;
  decltype(cublasLtMatmul)* matmul;
};

// cublaslt opens the library at the first call; where it cannot, each call throws
// Status::unavailable.
const CublasLt& cublaslt();

}  // namespace millrace
