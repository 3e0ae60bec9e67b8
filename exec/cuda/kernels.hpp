// SPDX-License-Identifier: Apache-2.0
// Kernels of the NCCL backend. C++17, and no types of ours: also included by kernels.cu.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

namespace amsp {

// Bound by memory: reads bytes/2 from `from` and writes as many to `to`, y = a x + b in fp32.
cudaError_t launch_elementwise(const float* from, float* to, std::size_t bytes,
                               cudaStream_t stream);
// Bound by memory as Adam is: reads four arrays and writes three, bytes/7 each.
cudaError_t launch_optimizer(float* state, std::size_t bytes, cudaStream_t stream);
// Holds `blocks` SMs' worth of thread blocks for the time, by the GPU's own clock.
cudaError_t launch_wait(unsigned long long nanoseconds, int blocks, cudaStream_t stream);
// Copies with a given number of thread blocks, over and over until the bytes are moved.
cudaError_t launch_copy(const float* from, float* to, std::size_t bytes, int blocks,
                        cudaStream_t stream);

}  // namespace amsp
