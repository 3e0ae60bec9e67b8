// SPDX-License-Identifier: Apache-2.0
// The collective model without a calibration.
#pragma once
#include <memory>

#include "calibrate/collective_model.hpp"

namespace amsp {

// Data-sheet rates and latencies of public logs; every estimate is marked `default_model`.
std::unique_ptr<CollectiveModel> default_collective_model(const ClusterSpec& cluster);

}  // namespace amsp
