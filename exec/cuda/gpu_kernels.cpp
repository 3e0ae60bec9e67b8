// SPDX-License-Identifier: Apache-2.0
#include "exec/cuda/gpu_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "exec/cuda/kernels.hpp"

namespace amsp {
namespace {

struct Product {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
};

// Causal attention works on half of the sequence x sequence square.
Product product_of(const Kernel& kernel) {
  if (kernel.kind == KernelClass::gemm) return {kernel.m, kernel.n, kernel.k, 1};
  return {kernel.sequence_length, std::max<std::int64_t>(kernel.sequence_length / 2, 1),
          kernel.head_dim, kernel.sequences * kernel.heads};
}

bool is_product(const Kernel& kernel) {
  return kernel.kind == KernelClass::gemm || kernel.kind == KernelClass::attention_forward ||
         kernel.kind == KernelClass::attention_backward;
}

cudaDataType_t cuda_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16:
      return CUDA_R_16BF;
    case Dtype::fp16:
      return CUDA_R_16F;
    case Dtype::fp32:
      return CUDA_R_32F;
    default:
      throw InputError(
          fmt::format("GEMMs in {} are not run by the nccl backend; it has bf16, fp16 "
                      "and fp32",
                      name_of(dtype)));
  }
}

}  // namespace

GpuKernels::GpuKernels(cudaStream_t stream, std::span<const Kernel> largest) : stream_(stream) {
  std::size_t bytes[3] = {256, 256, 256};
  auto grow = [](std::size_t& to, double count) {
    to = std::max(to, static_cast<std::size_t>(count));
  };
  for (const Kernel& kernel : largest) {
    const double width = size_of(kernel.dtype).value();
    if (is_product(kernel)) {
      const Product p = product_of(kernel);
      const auto batch = static_cast<double>(p.batch) * width;
      grow(bytes[0], static_cast<double>(p.m * p.k) * batch);
      grow(bytes[1], static_cast<double>(p.k * p.n) * batch);
      grow(bytes[2], static_cast<double>(p.m * p.n) * batch);
    } else {
      grow(bytes[0], kernel.hbm.value());
      grow(bytes[1], kernel.hbm.value() / 2);
    }
  }
  for (int i = 0; i < 3; ++i)
    operands_[i] = DeviceMemory(bytes[i], fmt::format("{} bytes for operands", bytes[i]));
  check_cublas(cublasCreate(&blas_), "cublasCreate");
  check_cublas(cublasSetStream(blas_, stream), "cublasSetStream");
}

GpuKernels::~GpuKernels() { cublasDestroy(blas_); }

// Row-major C[m,n] = A[m,k] B[k,n] is column-major C^T = B^T A^T.
void GpuKernels::multiply(Dtype dtype, int m, int n, int k, int batch) {
  const cudaDataType_t type = cuda_type(dtype);
  const float one = 1, zero = 0;
  check_cublas(cublasGemmStridedBatchedEx(
                   blas_, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, operands_[1].bytes(), type, n,
                   static_cast<long long>(k) * n, operands_[0].bytes(), type, k,
                   static_cast<long long>(m) * k, &zero, operands_[2].bytes(), type, n,
                   static_cast<long long>(m) * n, batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
               fmt::format("GEMM {} x {} x {}", m, n, k));
}

void GpuKernels::launch(const Kernel& kernel) {
  const Product p = is_product(kernel) ? product_of(kernel) : Product{};
  const auto m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
  const auto batch = static_cast<int>(p.batch);
  switch (kernel.kind) {
    case KernelClass::gemm:
      return multiply(kernel.dtype, m, n, k, 1);
    case KernelClass::attention_forward:
    case KernelClass::attention_backward: {
      const int products = kernel.kind == KernelClass::attention_forward ? 2 : 5;
      for (int i = 0; i < products; ++i) multiply(kernel.dtype, m, n, k, batch);
      return;
    }
    case KernelClass::elementwise:
      return check_cuda(launch_elementwise(operands_[0].floats(), operands_[1].floats(),
                                           static_cast<std::size_t>(kernel.hbm.value()), stream_),
                        "element-wise kernel");
    case KernelClass::optimizer:
      return check_cuda(launch_optimizer(operands_[0].floats(),
                                         static_cast<std::size_t>(kernel.hbm.value()), stream_),
                        "optimizer kernel");
    case KernelClass::fixed:
      return wait(kernel.duration);
  }
}

void GpuKernels::wait(Seconds duration) {
  if (duration <= Seconds()) return;
  check_cuda(launch_wait(static_cast<unsigned long long>(duration.value() * 1e9), 1, stream_),
             "waiting kernel");
}

}  // namespace amsp
