// SPDX-License-Identifier: Apache-2.0
// What runs say beside their figures: each note once, in the order of first appearance.
#pragma once
#include <string>
#include <vector>

#include "report/results.hpp"
#include "scenarios/planner.hpp"

namespace amsp {

std::vector<std::string> each_once(const std::vector<std::string>& notes);
std::vector<std::string> notes_of(const std::vector<ReportedRun>& runs);
std::vector<std::string> notes_of(const Plan& plan);

}  // namespace amsp
