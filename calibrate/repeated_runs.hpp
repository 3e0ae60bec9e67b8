// SPDX-License-Identifier: Apache-2.0
// The same measurement given twice: a log and its copy, a table quoted in a report.
#pragma once
#include <string>
#include <vector>

#include "calibrate/logs/measurement.hpp"

namespace amsp {

// Leaves out every run all of whose times another run has too, to the last digit, for the same
// sizes and group; of two equal ones the first stays. Returns one line for each, with both places.
std::vector<std::string> drop_repeated(std::vector<MeasuredRun>& runs);

}  // namespace amsp
