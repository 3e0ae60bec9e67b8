// SPDX-License-Identifier: Apache-2.0
// What a running collective takes from computation: NCCL runs one thread block per channel and
// keeps it on one SM until the collective ends (NCCL, src/enqueue.cc).
#pragma once
#include "calibrate/physics.hpp"

namespace amsp {

// Channels x 1 SM / SMs of the GPU; 0 when the GPU's number of SMs is not known. A channel gets at
// least 32 KiB of traffic (NCCL, src/enqueue.cc), so small collectives hold fewer.
double sm_share(const Candidate& candidate, Bytes bytes, const GroupShape& shape,
                const Hardware& hardware);

}  // namespace amsp
