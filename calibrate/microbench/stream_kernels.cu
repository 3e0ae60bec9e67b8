// SPDX-License-Identifier: Apache-2.0
#include "calibrate/microbench/stream_kernels.hpp"

namespace amsp::bench {
namespace {

__global__ void triad(float4* out, const float4* a, const float4* b, float scale,
                      std::size_t count) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    const float4 x = a[i];
    const float4 y = b[i];
    out[i] =
        make_float4(x.x + scale * y.x, x.y + scale * y.y, x.z + scale * y.z, x.w + scale * y.w);
  }
}

}  // namespace

void launch_triad(float* out, const float* a, const float* b, float scale, std::size_t count,
                  CUstream_st* stream) {
  const std::size_t vectors = count / 4;
  const std::size_t wanted = (vectors + 255) / 256;
  const int blocks = static_cast<int>(wanted < 65535 ? wanted : 65535);
  triad<<<blocks, 256, 0, stream>>>(reinterpret_cast<float4*>(out),
                                    reinterpret_cast<const float4*>(a),
                                    reinterpret_cast<const float4*>(b), scale, vectors);
}

}  // namespace amsp::bench
