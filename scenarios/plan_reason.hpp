// SPDX-License-Identifier: Apache-2.0
// One line on why a planned run beats another.
#pragma once
#include <string>

namespace amsp {

enum class PlanObjective;
struct PlannedRun;
// Whether two runs differ by less than rounding in the objective.
bool ties(PlanObjective objective, const PlannedRun& a, const PlannedRun& b);
std::string why_better(PlanObjective objective, const PlannedRun& better, const PlannedRun& worse);

}  // namespace amsp
