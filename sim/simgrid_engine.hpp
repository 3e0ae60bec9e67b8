// SPDX-License-Identifier: Apache-2.0
// Engines on SimGrid; only one may live in a process.
#pragma once
#include <memory>

#include "sim/engine.hpp"

namespace amsp {

// Every collective an s4u parallel task, every computation an execution on its GPU's host.
std::unique_ptr<Engine> make_simgrid_engine(const Problem& problem);

}  // namespace amsp
