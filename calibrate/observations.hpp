// SPDX-License-Identifier: Apache-2.0
// From what logs say to what the fit takes: one observation per time, with the shape of its group
// on the cluster.
#pragma once
#include <vector>

#include "calibrate/calibration.hpp"
#include "calibrate/collective_calibration.hpp"
#include "calibrate/logs/measurement.hpp"
#include "topologies/cluster.hpp"

namespace amsp {

// The shape of a group of n ranks, r of them on each node (0: the cluster's nodes are filled in
// order). NICs: those nearest to the first r slots.
GroupShape shape_on(const ClusterSpec& cluster, int ranks, int ranks_per_node = 0);

struct Observations {
  std::vector<Observation> rows;
  std::vector<RefusedRow> refused;    // with the reason
  std::vector<std::string> warnings;  // taken, but odd
};

// Out-of-place and in-place times both count. Refused: rows of zero bytes, wrong results, runs
// whose collective or number of ranks the log does not tell, launch times (-C 1), forced channels,
// times that no machine can have (plausible_times.hpp).
Observations observations_of(const std::vector<MeasuredRun>& runs, const ClusterSpec& cluster);

// The cluster that the logs describe: GPU type, GPUs of a node and NICs where they say so.
// `assumptions` of the result name what they do not say. Throws InputError when the logs name
// different GPUs, or none that the catalogue knows.
ClusterSpec cluster_of_runs(const std::vector<MeasuredRun>& runs);

}  // namespace amsp
