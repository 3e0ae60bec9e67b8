// SPDX-License-Identifier: Apache-2.0
// What is assumed of kernels that nobody measured; each with its origin.
#pragma once
#include "base/quantity.hpp"

namespace amsp {

// STREAM-like kernels reach 85 to 92 % of the data-sheet rate on HBM2e and HBM3 GPUs (BabelStream
// triad on A100-40GB: 1.40 of 1.555 TB/s = 0.90); kernels with two or three streams and small
// rows stay below that.
constexpr double default_hbm_share = 0.85;
constexpr const char* default_hbm_origin =
    "assumed: 0.85 of the data-sheet rate (BabelStream triad reaches 0.90 on an A100)";

// NCCL's maintainers count about 5 us for a kernel launch (NVIDIA/nccl-tests issue 123); on a busy
// stream the launch hides behind the kernel before, and the gap that stays is about 2 us.
constexpr Seconds default_launch = microseconds(2);
constexpr const char* default_launch_origin =
    "assumed: gap between dependent kernels of one stream";

// Times of matrix products and attention by shape: of this shipped calibration, scaled to the type.
constexpr const char* default_kernel_table = "a800-4hdr";

// The 90 % interval of a kernel that nobody measured. Faster: the best product on an A800 is 1.2
// times as fast as cuBLAS in that table (271 and 225 TFLOPS). Slower: assumed; unfused kernels and
// gaps between kernels cost programs up to half as much again.
constexpr double default_faster = 1.2;
constexpr double default_slower = 1.5;

// Shares of the dense peak where a table does not help (fp32, ratios between types): cuBLAS bf16
// GEMM of 4096 x 8192 x 8192 on an A800, 225 of 312 TFLOPS; FlashAttention-2 with causal mask,
// 4096 tokens, forward 167 and backward 147 of 312 TFLOPS
// (github.com/QiaolingChen00/LinS).
constexpr double default_gemm_share = 0.72;
constexpr double default_attention_forward_share = 0.53;
constexpr double default_attention_backward_share = 0.47;

// The best matrix product of that GPU type, as a share of its peak (A100 SXM, 271.2 of 312 TFLOPS:
// github.com/stas00/ml-engineering, table of maximum achievable matmul FLOPS). A type that reaches
// less of its own peak there has the shares above lowered in proportion; one whose attention was
// measured (`achievable_attention`) has its own there.
constexpr double achievable_share_where_measured = 271.2 / 312.0;

}  // namespace amsp
