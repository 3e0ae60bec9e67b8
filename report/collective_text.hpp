// SPDX-License-Identifier: Apache-2.0
// A predicted collective as text and JSON; measured times beside the model.
#pragma once
#include <string>
#include <vector>

#include "calibrate/collective_calibration.hpp"
#include "calibrate/collective_model.hpp"

namespace amsp {

struct CollectiveQuestion {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes bytes;  // whole buffer
  GroupShape shape;
};

std::string collective_table(const CollectiveQuestion& question, const ClusterSpec& cluster,
                             const CollectiveEstimate& estimate);
// Keys: time_us, interval_us, algbw_GBps, busbw_GBps, algorithm, protocol, range …
std::string collective_json(const CollectiveQuestion& question, const ClusterSpec& cluster,
                            const CollectiveEstimate& estimate);

// One line per measured time: predicted time, error, whether it lies in the interval; then the
// median and 95th percentile of the error.
std::string comparison_table(const std::vector<Observation>& rows, const CollectiveModel& model);

}  // namespace amsp
