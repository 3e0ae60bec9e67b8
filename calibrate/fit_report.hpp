// SPDX-License-Identifier: Apache-2.0
// What a fit came to, as text for people.
#pragma once
#include <string>

#include "calibrate/calibration.hpp"

namespace amsp {

// Parameters with 90 % intervals, fit quality by kind, outliers by name; every row on request.
std::string fit_report(const Calibration& calibration, bool all_rows);

}  // namespace amsp
