// SPDX-License-Identifier: Apache-2.0
// The training jobs that a validation predicts and executes: one small model under many sharding
// strategies, its computation emulated.
#pragma once
#include <string>
#include <vector>

#include "exec/testbed_control.hpp"
#include "topologies/cluster.hpp"
#include "workloads/schedule.hpp"

namespace amsp {

struct ValidationCase {
  std::string name;
  Schedule schedule;  // every kernel has a stated duration
};

// Model and durations are chosen for the shape's rates such that all gradients take 0.6 s to
// all-reduce (less on a fast network, where that would need a large model) and a step computes for
// as long. `quick`: four of the cases and half of that time. `scale`: of the bucket, 1 MiB.
std::vector<ValidationCase> validation_cases(const TestbedShape& shape, const ClusterSpec& cluster,
                                             bool quick, double scale);

}  // namespace amsp
