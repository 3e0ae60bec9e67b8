// SPDX-License-Identifier: Apache-2.0
// The fit of a kind's smooth correction, and which rows it believes.
#pragma once
#include <vector>

#include "calibrate/collective_calibration.hpp"

namespace amsp {

// Sets the rotation, the correction, the trust of each row and the share of the straight line, from
// the rows and the parameters.
void fit_correction(KindFit& fit, const Hardware& hardware);

// The size of each row, as a number: rows of one size are left out together.
std::vector<int> size_groups(const KindFit& fit);

}  // namespace amsp
