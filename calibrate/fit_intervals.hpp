// SPDX-License-Identifier: Apache-2.0
// How wide a fit's 90 % intervals must be, from what the fit says of rows it has not seen: sizes
// and scales left out whole (not single rows, whose neighbours would give them away), and the
// largest scales predicted from the smaller ones.
#pragma once
#include "calibrate/collective_calibration.hpp"

namespace amsp {

// Sets the interval factors and the growth with scale of one kind's finished fit.
void fit_intervals(KindFit& fit, const CollectiveCalibration& calibration);

}  // namespace amsp
