// SPDX-License-Identifier: Apache-2.0
// Measured collectives beside the model, as one SVG: bus bandwidth over size above, errors of
// the model and its 90 % interval below.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "calibrate/collective_calibration.hpp"
#include "calibrate/collective_model.hpp"

namespace amsp {

// Empty when gnuplot is not installed (a note goes to stderr). At most 8 series (kind and group)
// are drawn, those with the most rows (said on stderr); the key is in order of kind and scale.
std::optional<std::string> comparison_figure(const std::vector<Observation>& rows,
                                             const CollectiveModel& model);

}  // namespace amsp
