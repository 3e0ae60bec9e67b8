// SPDX-License-Identifier: Apache-2.0
// The NCCL backend: in exec/cuda/ where the build found CUDA and NCCL, else a refusal.
#pragma once
#include <string>

#include "exec/backend.hpp"

namespace amsp {

std::string nccl_unavailable();
RankTimes run_nccl(const RankContext& context);

}  // namespace amsp
