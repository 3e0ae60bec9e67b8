// SPDX-License-Identifier: Apache-2.0
// Errors of CUDA, cuBLAS and NCCL as exceptions with the library's own words.
#pragma once
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <nccl.h>

#include <string_view>

namespace amsp {

// Throw CheckFailed: "WHAT: CUDA: out of memory".
void check_cuda(cudaError_t error, std::string_view what);
void check_cublas(cublasStatus_t status, std::string_view what);
// "WHAT: NCCL: remote process exited or there was a network error: (its last words)".
void check_nccl(ncclResult_t result, ncclComm_t comm, std::string_view what);

}  // namespace amsp
