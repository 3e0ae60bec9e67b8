// SPDX-License-Identifier: Apache-2.0
// One line on why a planned run beats another.
#pragma once
#include <string>

namespace amsp {

struct PlannedRun;
std::string why_better(const PlannedRun& better, const PlannedRun& worse);

}  // namespace amsp
