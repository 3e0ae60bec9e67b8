// SPDX-License-Identifier: Apache-2.0
#include "base/kernel.hpp"

#include <array>
#include <cstddef>

namespace amsp {
namespace {
constexpr std::array<std::string_view, 6> kNames{
    "gemm", "attention_forward", "attention_backward", "elementwise", "optimizer", "fixed"};
}

std::string_view name_of(KernelClass kernel) { return kNames[static_cast<std::size_t>(kernel)]; }

std::vector<std::string> kernel_class_names() { return {kNames.begin(), kNames.end()}; }

KernelClass parse_kernel_class(std::string_view text, const Place& place) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == text) return static_cast<KernelClass>(i);
  throw InputError(place, unknown_name("kernel class", text, kernel_class_names()));
}

Flops flops_of(const Kernel& kernel) {
  if (kernel.kind == KernelClass::gemm)
    return Flops(2.0 * static_cast<double>(kernel.m) * static_cast<double>(kernel.n) *
                 static_cast<double>(kernel.k));
  const bool forward = kernel.kind == KernelClass::attention_forward;
  if (!forward && kernel.kind != KernelClass::attention_backward) return Flops(0);
  const auto length = static_cast<double>(kernel.sequence_length);
  // QK^T and PV, 2 FLOP a multiply-add, half of the square under a causal mask; the backward pass
  // has five such products (FlashAttention-2 paper, section 3).
  const double products = forward ? 2 : 5;
  return Flops(products * static_cast<double>(kernel.sequences) *
               static_cast<double>(kernel.heads) * static_cast<double>(kernel.head_dim) * length *
               length);
}

}  // namespace amsp
