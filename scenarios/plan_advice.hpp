// SPDX-License-Identifier: Apache-2.0
// What would make a plan possible of which no candidate fits.
#pragma once
#include <string>

#include "scenarios/planner.hpp"

namespace amsp {

// By how much the candidate that misses by least does; then, as options of `amsp plan`, what would
// fit: the recompute and micro-batch that were not asked for, and the least number of GPUs (those
// that share the global batch; then powers of two and node x powers of two, with a larger batch; up
// to 16384). Where no number does: the longest sequence, halved until it fits. What is named was
// simulated.
std::string plan_advice(const PlanRequest& request);

}  // namespace amsp
