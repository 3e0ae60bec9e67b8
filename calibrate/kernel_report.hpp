// SPDX-License-Identifier: Apache-2.0
// What a fit of kernel times came to, as text for people.
#pragma once
#include <string>

#include "calibrate/kernel_calibration.hpp"

namespace amsp {

// Fit quality by class, outliers by name; every row on request. Errors are model / measured - 1.
std::string kernel_report(const KernelCalibration& kernels, bool all_rows);

}  // namespace amsp
