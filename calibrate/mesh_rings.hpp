// SPDX-License-Identifier: Apache-2.0
// Rings over a node whose GPUs are joined by a mesh of NVLinks (no switch), as NCCL lays them.
#pragma once
#include <vector>

#include "base/id.hpp"
#include "topologies/cluster.hpp"

namespace amsp {

// Ring orders that together use as many of the mesh's links as the search finds, each link by one
// ring (both directions: a ring and its reverse). Empty when the node is no mesh, when fewer than
// three GPUs take part or when they form no ring over direct links.
std::vector<std::vector<GpuId>> mesh_rings(const std::vector<GpuId>& gpus,
                                           const ClusterSpec& cluster);

}  // namespace amsp
