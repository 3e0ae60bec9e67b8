// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels bound by device memory. C++17 (compiled by nvcc).
#pragma once
#include <cstddef>

struct CUstream_st;

namespace amsp::bench {

// out[i] = a[i] + scale * b[i] on `count` floats: 12 bytes an element.
void launch_triad(float* out, const float* a, const float* b, float scale, std::size_t count,
                  CUstream_st* stream);

}  // namespace amsp::bench
