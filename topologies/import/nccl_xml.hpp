// SPDX-License-Identifier: Apache-2.0
// Reads NCCL's and RCCL's topology XML (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE): whole systems and
// fragments, also cut ones (docs/formats/import.md).
#pragma once
#include <string_view>

#include "topologies/import/machine_facts.hpp"

namespace amsp {

// Throws InputError when the text holds no such element, or no GPU.
MachineFacts parse_nccl_topology(std::string_view text, std::string_view file);

}  // namespace amsp
