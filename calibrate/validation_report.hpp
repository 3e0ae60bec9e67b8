// SPDX-License-Identifier: Apache-2.0
// What a cross-validation came to, as text for people.
#pragma once
#include <string>
#include <vector>

#include "calibrate/cross_validation.hpp"

namespace amsp {

// Errors by size class, what was left out and kind, beside those of straight lines on the same
// rows; then what the measurements themselves scatter. `all_rows`: every left-out row first.
std::string validation_report(const std::vector<HeldOutRow>& held_out,
                              const std::vector<Observation>& rows, bool all_rows);

}  // namespace amsp
