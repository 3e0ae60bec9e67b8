// SPDX-License-Identifier: Apache-2.0
#include "cli/calibration_cluster.hpp"

#include "base/file.hpp"
#include "calibrate/calibration.hpp"

namespace amsp {

ClusterSpec cluster_of_calibration(std::string_view calibration) {
  return load_calibration(resolve_data("calibration", "calibrate/data", calibration)).made_on();
}

}  // namespace amsp
