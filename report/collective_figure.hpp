// SPDX-License-Identifier: Apache-2.0
// Measured collectives beside the model, as one SVG: bus bandwidth over size above, residuals
// below.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "calibrate/collective_calibration.hpp"
#include "calibrate/collective_model.hpp"

namespace amsp {

// Empty when gnuplot is not installed (a note goes to stderr). At most 12 series (kind and group)
// are drawn, those with the most rows.
std::optional<std::string> comparison_figure(const std::vector<Observation>& rows,
                                             const CollectiveModel& model);

}  // namespace amsp
