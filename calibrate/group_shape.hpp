// SPDX-License-Identifier: Apache-2.0
// The shape of a communicator group: all that a collective's time depends on besides kind and size.
#pragma once
#include <compare>

namespace amsp {

struct GroupShape {
  int ranks = 1;           // n
  int ranks_per_node = 1;  // r (of the fullest node)
  int nodes = 1;           // N
  int nics_per_node = 0;   // NICs that the group's traffic uses in each node; 0 = all of the node's
  auto operator<=>(const GroupShape&) const = default;
};

}  // namespace amsp
