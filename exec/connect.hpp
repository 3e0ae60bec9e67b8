// SPDX-License-Identifier: Apache-2.0
// A rank's way to the coordinator of its job.
#pragma once
#include <exception>
#include <string>

#include "base/id.hpp"
#include "base/quantity.hpp"
#include "exec/frame.hpp"

namespace amsp {

// The coordinator may come up later than this rank. Throws CheckFailed after the time-out.
Descriptor connect_to(const std::string& host, int port, Seconds timeout);

// Ends the process with status 1 and says why: for ranks whose threads may hang in a collective.
[[noreturn]] void end_process(const std::string& reason, Rank rank);
// The same for what was thrown; status 2 when that is bad input.
[[noreturn]] void end_process(const std::exception& error, Rank rank);

}  // namespace amsp
