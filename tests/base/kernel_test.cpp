// SPDX-License-Identifier: Apache-2.0
#include "base/kernel.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace amsp;

TEST_CASE("FLOPs of a kernel are its formula's, also where 64 bits do not hold the product") {
  Kernel kernel;
  kernel.kind = KernelClass::attention_forward;
  kernel.sequences = 2;
  kernel.heads = 8;
  kernel.head_dim = 64;
  kernel.sequence_length = 128;
  // Two products of s x s x d for each head, half of them under the mask: 2 s^2 d.
  CHECK(flops_of(kernel).value() == 2.0 * 2 * 8 * 64 * 128 * 128);
  kernel.kind = KernelClass::attention_backward;
  CHECK(flops_of(kernel).value() == 5.0 * 2 * 8 * 64 * 128 * 128);
  kernel.sequences = kernel.heads = kernel.head_dim = std::int64_t{1} << 30;
  CHECK(flops_of(kernel).value() == 5.0 * 128 * 128 * std::ldexp(1.0, 90));
  kernel.kind = KernelClass::gemm;
  kernel.m = kernel.n = kernel.k = std::int64_t{1} << 30;
  CHECK(flops_of(kernel).value() == std::ldexp(1.0, 91));
}
