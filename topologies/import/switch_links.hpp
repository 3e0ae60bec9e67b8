// SPDX-License-Identifier: Apache-2.0
// NVLinks of each GPU behind an NVSwitch, and what does not fit together. A pair shows the smaller
// of both GPUs' links, so a GPU that lost one shows fewer in its whole row and column.
#pragma once
#include <string>
#include <vector>

#include "topologies/import/machine_facts.hpp"

namespace amsp {

struct SwitchLinks {
  int usual = 0;                   // as most GPUs have, of equally common numbers the greatest
  std::vector<int> of_gpu;         // at most `usual`; -1 = not known, 0 = not on the switch
  std::vector<std::string> notes;  // GPUs with fewer; pairs that contradict their GPUs
};

// For machines whose GPUs reach each other through a switch.
SwitchLinks switch_links(const MachineFacts& facts);

// Pairs of a mesh that have another number of links than all others (a full mesh of equal pairs).
std::vector<std::string> odd_mesh_pairs(const MachineFacts& facts);

}  // namespace amsp
