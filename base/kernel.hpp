// SPDX-License-Identifier: Apache-2.0
// A GPU kernel as the schedule names it and the compute model prices it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.hpp"
#include "base/error.hpp"
#include "base/quantity.hpp"

namespace amsp {

enum class KernelClass {
  gemm,               // C[m,n] = A[m,k] B[k,n]
  attention_forward,  // fused (FlashAttention), causal
  attention_backward,
  elementwise,  // bound by HBM: norms, activations, residuals, casts, embedding, loss
  optimizer,    // bound by HBM: Adam on a shard
  fixed         // a stated duration (hand-written schedules, emulated devices)
};

std::string_view name_of(KernelClass kernel);
KernelClass parse_kernel_class(std::string_view text, const Place& place = {});
std::vector<std::string> kernel_class_names();

// Only the fields that the class needs are set; the rest stay 0.
struct Kernel {
  KernelClass kind = KernelClass::fixed;
  Dtype dtype = Dtype::bf16;
  std::int64_t m = 0, n = 0, k = 0;      // gemm; m = tokens for a Linear
  std::int64_t sequences = 0;            // attention: sequences in the batch
  std::int64_t sequence_length = 0;      // attention: tokens of each
  std::int64_t heads = 0, kv_heads = 0;  // attention
  std::int64_t head_dim = 0;             // attention
  Bytes hbm;                             // elementwise, optimizer: bytes read + written
  Seconds duration;                      // fixed
};

// gemm 2mnk; attention forward 4·b·s²·a·d halved (causal), backward 2.5 x that; others 0.
Flops flops_of(const Kernel& kernel);

}  // namespace amsp
