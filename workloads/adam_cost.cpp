// SPDX-License-Identifier: Apache-2.0
#include "workloads/adam_cost.hpp"

namespace amsp {
namespace {

// Reads gradient, parameter and two moments, writes three, all in fp32.
constexpr Bytes kInOnePass(28);

// Norm of the 16-bit gradients; flatten (4), copy to fp32 (6), unscale and clip in place (8), Adam,
// copy back (6). The step peaks at 20 instead of 12 bytes: InternEvo's mem.py.
constexpr AdamCost kInternEvo{Bytes(2), Bytes(10), Bytes(8), kInOnePass,
                              Bytes(6), Bytes(8),  Bytes(0), false};

// runtime/zero/stage_1_and_2.py and stage3.py of September 2023. The norm casts each tensor to
// double (reads 2, writes 8, reads 8). step() flattens a group's 16-bit gradients (4) and casts the
// copy to fp32 (6): 2 + 4 bytes at once beside the gradients; then it scales in place (8), runs
// FusedAdam in place, and copies the result back (6). Stages 1 and 2 have dropped the gradients of
// other owners by then.
constexpr AdamCost kDeepSpeed{Bytes(18), Bytes(10), Bytes(8), kInOnePass,
                              Bytes(6),  Bytes(6),  Bytes(8), true};

// PyTorch with gradients and parameters in fp32: norm (4), clip in place (8). The multi-tensor
// AdamW (torch/optim/adamw.py) takes a pass for weight decay (8), the first moment (12), the second
// (8 + 12), its square root in new tensors (8), which are divided (8) and raised by epsilon (8),
// and the update (16).
constexpr AdamCost kForeach{Bytes(4), Bytes(0), Bytes(8), Bytes(80),
                            Bytes(0), Bytes(4), Bytes(0), false};
constexpr AdamCost kFused{Bytes(4), Bytes(0), Bytes(8), kInOnePass,
                          Bytes(0), Bytes(0), Bytes(0), false};

}  // namespace

AdamCost adam_cost(Adam adam) {
  switch (adam) {
    case Adam::internevo:
      return kInternEvo;
    case Adam::deepspeed:
      return kDeepSpeed;
    case Adam::foreach:
      return kForeach;
    case Adam::fused:
      return kFused;
  }
  return kInternEvo;
}

}  // namespace amsp
