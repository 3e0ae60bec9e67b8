// SPDX-License-Identifier: Apache-2.0
// What the end of a step reads, writes and holds, by who wrote it (docs/model/50-memory.md).
#pragma once
#include "base/quantity.hpp"
#include "workloads/strategy.hpp"

namespace amsp {

// For one owned parameter. HBM traffic: the norm of the gradients, kernels on 16-bit data before
// Adam, kernels in fp32 before it, Adam itself, the copy back to 16 bits.
struct AdamCost {
  Bytes norm, to_fp32, scale, update, from_fp32;
  Bytes temporaries;  // held at once, of the parameters that are updated at a time
  // In double precision for one tensor at a time: the norm.
  Bytes norm_temporaries;
  bool drops_foreign_gradients = false;  // those of other owners, before Adam starts
};

AdamCost adam_cost(Adam adam);

}  // namespace amsp
