// SPDX-License-Identifier: Apache-2.0
#include "exec/cuda/checks.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace amsp {

void check_cuda(cudaError_t error, std::string_view what) {
  if (error != cudaSuccess)
    throw CheckFailed(fmt::format("{}: CUDA: {}", what, cudaGetErrorString(error)));
}

void check_cublas(cublasStatus_t status, std::string_view what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw CheckFailed(fmt::format("{}: cuBLAS: {}", what, cublasGetStatusString(status)));
}

void check_nccl(ncclResult_t result, ncclComm_t comm, std::string_view what) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  const char* last = ncclGetLastError(comm);
  throw CheckFailed(fmt::format("{}: NCCL: {}{}{}", what, ncclGetErrorString(result),
                                last && *last ? ": " : "", last ? last : ""));
}

}  // namespace amsp
