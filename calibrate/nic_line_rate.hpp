// SPDX-License-Identifier: Apache-2.0
// The line rate of a NIC, where logs alone describe a cluster.
#pragma once
#include <string>
#include <vector>

#include "calibrate/logs/measurement.hpp"
#include "topologies/cluster.hpp"
#include "topologies/gpu_spec.hpp"

namespace amsp {

struct NicLineRate {
  Bandwidth rate;
  std::string assumption;
};

// The slowest standard rate that covers the traffic of the runs, on the NICs of `cluster`. Where
// the logs stop before the traffic levels off this is no more than a lower bound: then no less than
// what nodes of such GPUs usually have.
NicLineRate nic_line_rate(const std::vector<MeasuredRun>& runs, const ClusterSpec& cluster,
                          const GpuType& gpu);

// What was assumed of the NICs of a cluster whose logs stop so early; empty otherwise.
std::string guessed_nic_rate(const ClusterSpec& cluster);

}  // namespace amsp
