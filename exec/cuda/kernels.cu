// SPDX-License-Identifier: Apache-2.0
#include "exec/cuda/kernels.hpp"

namespace amsp {
namespace {

constexpr int kThreads = 256;
// Enough blocks to fill every SM of an H200 (132 SMs, 8 blocks of 256 threads each); the kernels
// stride over the rest.
constexpr int kMostBlocks = 132 * 8;

int blocks_for(std::size_t items) {
  const std::size_t blocks = (items + kThreads - 1) / kThreads;
  return static_cast<int>(blocks < kMostBlocks ? (blocks > 0 ? blocks : 1) : kMostBlocks);
}

__global__ void elementwise(const float4* from, float4* to, std::size_t count) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const float4 x = from[i];
    to[i] = make_float4(x.x * 1.0001F + 0.5F, x.y * 1.0001F + 0.5F, x.z * 1.0001F + 0.5F,
                        x.w * 1.0001F + 0.5F);
  }
}

__device__ void adam(float gradient, float& parameter, float& mean, float& square) {
  mean = 0.9F * mean + 0.1F * gradient;
  square = 0.95F * square + 0.05F * gradient * gradient;
  parameter -= 1e-4F * mean * rsqrtf(square + 1e-8F);
}

// Arrays one after another: gradients (read), parameters, means, squares (read and written).
__global__ void optimizer(float* state, std::size_t count) {
  float* parameter = state + count;
  float* mean = parameter + count;
  float* square = mean + count;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    adam(state[i], parameter[i], mean[i], square[i]);
}

__device__ unsigned long long clock_ns() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void wait(unsigned long long nanoseconds) {
  const unsigned long long end = clock_ns() + nanoseconds;
  while (clock_ns() < end) __nanosleep(200);
}

}  // namespace

cudaError_t launch_elementwise(const float* from, float* to, std::size_t bytes,
                               cudaStream_t stream) {
  return launch_copy(from, to, bytes / 2, blocks_for(bytes / 2 / sizeof(float4)), stream);
}

cudaError_t launch_copy(const float* from, float* to, std::size_t bytes, int blocks,
                        cudaStream_t stream) {
  elementwise<<<blocks, kThreads, 0, stream>>>(
      reinterpret_cast<const float4*>(from), reinterpret_cast<float4*>(to), bytes / sizeof(float4));
  return cudaGetLastError();
}

cudaError_t launch_optimizer(float* state, std::size_t bytes, cudaStream_t stream) {
  const std::size_t count = bytes / 7 / sizeof(float);
  optimizer<<<blocks_for(count), kThreads, 0, stream>>>(state, count);
  return cudaGetLastError();
}

cudaError_t launch_wait(unsigned long long nanoseconds, int blocks, cudaStream_t stream) {
  wait<<<blocks, 32, 0, stream>>>(nanoseconds);
  return cudaGetLastError();
}

}  // namespace amsp
