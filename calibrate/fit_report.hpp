// SPDX-License-Identifier: Apache-2.0
// What a fit came to, as text for people.
#pragma once
#include <string>
#include <vector>

#include "calibrate/calibration.hpp"

namespace amsp {

// Parameters with 90 % intervals, fit quality by kind, outliers by name; every row on request.
std::string fit_report(const Calibration& calibration, bool all_rows);

// Kinds whose own rows the fit misses by more than 30 % in the median, one line each: times in a
// wrong unit, or of several machines.
std::vector<std::string> fit_warnings(const Calibration& calibration);

}  // namespace amsp
