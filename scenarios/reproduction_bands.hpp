// SPDX-License-Identifier: Apache-2.0
// The bands that docs/reproduction.md states, and what was reached.
#pragma once
#include <vector>

#include "scenarios/reproduction.hpp"

namespace amsp {

std::vector<ReproducedBand> reproduction_bands(const std::vector<ReproducedPoint>& points);

}  // namespace amsp
