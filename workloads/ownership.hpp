// SPDX-License-Identifier: Apache-2.0
// Who owns which optimizer states among the GPUs that hold the same parameters.
#pragma once
#include <vector>

#include "workloads/job.hpp"

namespace amsp {

struct Ownership {
  std::vector<Bytes> bytes;               // of parameters, by owner (index in the group)
  std::vector<std::vector<int>> modules;  // by owner: modules of which it owns something
  [[nodiscard]] Bytes largest() const;
};

// Equal slices of everything, or whole tensors (of the local shard): largest first onto the owner
// with least (ties to the first), or, where the broadcast is to run beside the next forward pass,
// contiguously in model order, each owner filled to 1.01 of an equal share (InternEvo).
Ownership own_optimizer_states(const Job& job);

}  // namespace amsp
