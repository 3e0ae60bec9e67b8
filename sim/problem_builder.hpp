// SPDX-License-Identifier: Apache-2.0
// Folds a replay along a partition: one member of each class, loads summed over the others.
#pragma once
#include "sim/partition.hpp"
#include "sim/problem.hpp"

namespace amsp {

// `unfolded` and `input` must outlive the problem.
Problem build_problem(const ReplayInput& input, const Unfolded& unfolded,
                      const Partition& partition);

}  // namespace amsp
