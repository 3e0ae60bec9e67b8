// SPDX-License-Identifier: Apache-2.0
// The testbed as the simulator sees it: one "GPU" per rank on the node's bridge, one NIC per node.
#pragma once
#include "exec/testbed_control.hpp"
#include "sim/replay.hpp"
#include "topologies/cluster.hpp"
#include "topologies/network.hpp"

namespace amsp {

// All uplinks at the rate `inter`; links carry the payload's share of their shaped rate.
ClusterSpec testbed_cluster(const TestbedShape& shape);

// Nodes whose uplink differs, as perturbations of the healthy network.
Perturbations uplink_perturbations(const TestbedShape& shape, const Network& network);

}  // namespace amsp
