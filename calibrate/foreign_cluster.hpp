// SPDX-License-Identifier: Apache-2.0
// A calibration used on another cluster than the one it was made on: rates move with the data
// sheets, latencies stay, and every figure says so (docs/model/20-collectives.md).
#pragma once
#include <string>

#include "calibrate/collective_calibration.hpp"
#include "topologies/cluster.hpp"

namespace amsp {

// Alike in all that a fit depends on: GPU type, GPUs and NICs of a node, rates of their ports.
bool same_hardware(const ClusterSpec& a, const ClusterSpec& b);

struct ForeignCalibration {
  CollectiveCalibration calibration;
  AchievableRates rates;
  std::string note;  // names both clusters and the factors
};

// Fitted rates times the ratio of the data sheets' rates.
ForeignCalibration moved_to(const ClusterSpec& cluster, CollectiveCalibration calibration,
                            const ClusterSpec& made_on);

}  // namespace amsp
