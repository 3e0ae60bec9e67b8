// SPDX-License-Identifier: Apache-2.0
// Racks whose machines (trays) share one NVLink domain, of which a file of one tray shows nothing.
#pragma once
#include <string>
#include <vector>

#include "topologies/cluster.hpp"
#include "topologies/gpu_spec.hpp"
#include "topologies/import/machine_facts.hpp"

namespace amsp {

// A tray of GB200 or GB300 NVL72: at most four Blackwell GPUs beside Grace, behind an NVSwitch.
bool is_tray(const MachineFacts& facts, const GpuType& type, const NodeSpec& node);

// So many of these machines as one node: all their GPUs on one NVSwitch. What is said of it is
// added to `assumptions`. Throws InputError (`source`) when the GPUs are behind no NVSwitch, or are
// too many for a node.
NodeSpec joined_by_nvswitch(const NodeSpec& tray, int trays, const std::string& source,
                            std::vector<std::string>& assumptions);

}  // namespace amsp
