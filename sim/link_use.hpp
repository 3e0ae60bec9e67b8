// SPDX-License-Identifier: Apache-2.0
// What the links carry in the reported period.
#pragma once
#include <vector>

#include "sim/problem.hpp"
#include "sim/replay.hpp"

namespace amsp {

// The main job's collectives of one step (every op as often as the step runs it) over the period.
std::vector<LinkUse> link_use(const Problem& problem, const ReplayResult& result);

}  // namespace amsp
