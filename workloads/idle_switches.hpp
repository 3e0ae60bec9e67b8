// SPDX-License-Identifier: Apache-2.0
// Switches of a strategy that somebody set and that cannot act: said, not refused, because the same
// file may serve other numbers of GPUs on which they do.
#pragma once
#include <string>
#include <vector>

#include "workloads/strategy.hpp"

namespace amsp {

// One sentence for each key of `json` (as parse_strategy() takes it) that says something other than
// the preset and changes nothing in a job on this mesh.
std::vector<std::string> idle_switches(const JsonValue& json, Mesh data_parallel);

}  // namespace amsp
