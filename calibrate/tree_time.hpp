// SPDX-License-Identifier: Apache-2.0
// What the algorithms that go up and down NCCL's double binary tree over nodes share in time.
#pragma once
#include "calibrate/nccl_tuner.hpp"
#include "calibrate/physics.hpp"

namespace amsp {

// What the fullest NIC carries.
Bytes tree_nic_bytes(Bytes bytes, const GroupShape& shape, int nics);
// All hops across, up and down.
Seconds tree_path_across(const NcclCall& call, const PhysicsParameters& parameters);
// How much longer a tree streams on more nodes.
double tree_loss(const GroupShape& shape, const PhysicsParameters& parameters);

}  // namespace amsp
