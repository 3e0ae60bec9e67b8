// SPDX-License-Identifier: Apache-2.0
// The engine on SimGrid; only one may live in a process.
#pragma once
#include <memory>

#include "sim/engine.hpp"
#include "sim/simgrid_transfers.hpp"

namespace amsp {

// Computations are executions on the host of their GPU.
std::unique_ptr<Engine> make_simgrid_engine(const Problem& problem,
                                            std::unique_ptr<SimgridTransfers> transfers);

}  // namespace amsp
