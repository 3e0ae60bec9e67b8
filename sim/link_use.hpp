// SPDX-License-Identifier: Apache-2.0
// What the links carry in the reported period.
#pragma once
#include <vector>

#include "sim/partition.hpp"
#include "sim/problem.hpp"
#include "sim/replay.hpp"

namespace amsp {

// The main job's collectives of one step (every op as often as the step runs it), and what other
// jobs' collectives moved in the period (each at an even rate from its start to its end).
std::vector<LinkUse> link_use(const Problem& problem, const ReplayResult& result);

// Appends the links that the partition left out because they cannot be the bottleneck; those that
// carry the same at the same capacity as one entry.
void add_implied_links(const Unfolded& unfolded, const Partition& partition, const Problem& problem,
                       ReplayResult& result);

}  // namespace amsp
