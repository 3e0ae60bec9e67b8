// SPDX-License-Identifier: Apache-2.0
// Latencies where nobody measured this cluster.
#pragma once
#include "calibrate/physics.hpp"

namespace amsp {

// Latencies as public logs show them, longer than NCCL's constants: of hops inside a node, of hops
// across, and with both of launches (docs/model/20-collectives.md).
PhysicsParameters as_measured_elsewhere(PhysicsParameters p, bool inside, bool across);

}  // namespace amsp
