// SPDX-License-Identifier: Apache-2.0
// The arithmetic of compute ops on the CPU, single-threaded and in fp32: matrix products for GEMM
// and attention kernels, passes over memory for the bandwidth-bound ones.
#pragma once
#include "base/kernel.hpp"
#include "base/quantity.hpp"

namespace amsp {

// Does the kernel's work (2mnk FLOPs for a GEMM, hbm bytes for an element-wise kernel, a wait for
// a fixed one). Operands live in this thread and keep their largest size. Throws InputError when
// they would need more than 4 GiB.
void run_host_kernel(const Kernel& kernel);

}  // namespace amsp
