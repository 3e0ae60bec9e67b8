// SPDX-License-Identifier: Apache-2.0
// NCCL's double binary tree over nodes.
#pragma once
#include <vector>

namespace amsp {

struct TreeShape {
  std::vector<int> parent;  // by node position; -1 = root
  std::vector<int> height;  // longest way down to a leaf
  std::vector<int> depth;   // way up to the root
};

// Tree 0 or 1 over `nodes` nodes. A node that forwards in one tree is a leaf of the other.
TreeShape tree_shape(int tree, int nodes);

}  // namespace amsp
