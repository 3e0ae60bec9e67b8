// SPDX-License-Identifier: Apache-2.0
// The collective model without a calibration.
#pragma once
#include <memory>

#include "calibrate/collective_model.hpp"

namespace amsp {

// NCCL's published constants and data-sheet rates; every estimate is marked `default_model`.
std::unique_ptr<CollectiveModel> default_collective_model(const ClusterSpec& cluster);

}  // namespace amsp
