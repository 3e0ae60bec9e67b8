// SPDX-License-Identifier: Apache-2.0
// What a fit came to, as text for people.
#pragma once
#include <string>
#include <vector>

#include "calibrate/calibration.hpp"
#include "calibrate/cross_validation.hpp"

namespace amsp {

// Parameters with 90 % intervals, fit quality by kind, outliers by name; every row on request.
std::string fit_report(const Calibration& calibration, bool all_rows);

// Errors by what was left out, kind and size class.
std::string validation_report(const std::vector<HeldOutRow>& held_out);

}  // namespace amsp
