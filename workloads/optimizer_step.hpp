// SPDX-License-Identifier: Apache-2.0
// The end of a step: gradient norm, Adam on the owned shard, spreading the updated parameters.
#pragma once
#include <map>
#include <vector>

#include "workloads/job.hpp"

namespace amsp {

struct OptimizerStep {
  // With the update overlapped: the collectives by which a module's parameters arrive.
  std::map<int, std::vector<OpId>> updates_of_module;
};

OptimizerStep add_optimizer_step(const Job& job, ScheduleBuilder& builder);

}  // namespace amsp
