// SPDX-License-Identifier: Apache-2.0
// The schedule's kernels on one CUDA stream.
#pragma once
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <span>

#include "base/kernel.hpp"
#include "exec/cuda/device_memory.hpp"

namespace amsp {

class GpuKernels {
 public:
  // Operands are allocated for the largest of these kernels.
  GpuKernels(cudaStream_t stream, std::span<const Kernel> largest);
  ~GpuKernels();
  GpuKernels(const GpuKernels&) = delete;
  GpuKernels& operator=(const GpuKernels&) = delete;

  // Launches the kernel: cuBLAS for GEMMs, batched products of the same FLOPs for attention (two
  // forward, five backward over half of the square; no fused kernel), a pass over memory for
  // element-wise kernels and the optimizer, a waiting kernel for fixed ones.
  void launch(const Kernel& kernel);
  // Holds one SM of the stream for so long (ComputeMode::timed).
  void wait(Seconds duration);

 private:
  void multiply(Dtype dtype, int m, int n, int k, int batch);
  cudaStream_t stream_;
  cublasHandle_t blas_ = nullptr;
  DeviceMemory operands_[3];
};

}  // namespace amsp
