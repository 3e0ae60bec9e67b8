// SPDX-License-Identifier: Apache-2.0
// Runs that are wrong as a whole: of a table in a wrong unit the smallest sizes, which show no
// bandwidth, pass every check of single rows.
#pragma once
#include <optional>
#include <string>

#include "calibrate/logs/measurement.hpp"

namespace amsp {

// What is wrong, with the likely unit, where more than half of a run's sizes contradict themselves;
// nothing for other runs.
std::optional<std::string> wrong_as_a_whole(const MeasuredRun& run);

}  // namespace amsp
