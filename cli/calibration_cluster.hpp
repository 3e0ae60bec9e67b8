// SPDX-License-Identifier: Apache-2.0
// The cluster of a question that names only a calibration.
#pragma once
#include <string_view>

#include "topologies/cluster.hpp"

namespace amsp {

// The cluster that the calibration (name or path) was made on. Throws InputError.
ClusterSpec cluster_of_calibration(std::string_view calibration);

}  // namespace amsp
