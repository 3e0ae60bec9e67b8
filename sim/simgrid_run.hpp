// SPDX-License-Identifier: Apache-2.0
// The engine `simgrid`: the replay on SimGrid, every GPU and link unfolded.
#pragma once
#include "sim/partition.hpp"
#include "sim/problem.hpp"
#include "sim/replay.hpp"

namespace amsp {

// Runs in a child process, because SimGrid has one engine per process; the records come back
// through a pipe. Errors of the replay are thrown here as they were there.
ReplayResult run_simgrid(const ReplayInput& input, const Unfolded& unfolded, const Problem& problem,
                         const ReplayOptions& options);

}  // namespace amsp
