// SPDX-License-Identifier: Apache-2.0
#include "calibrate/tree_shape.hpp"

#include <algorithm>

namespace amsp {
namespace {

// Parent of `node` in a binary tree over 0..n-1 with root 0 in which every odd node is a leaf: the
// parent of a node differs from it at its lowest set bit and the bit above. -1 for the root.
int parent_of(int node, int n) {
  if (node == 0) return -1;
  const int bit = node & -node;
  const int up = (node ^ bit) | (bit << 1);
  return up < n ? up : node ^ bit;
}

// The second tree: the first mirrored (even n) or shifted by one (odd n), so that leaves and inner
// nodes trade places.
int second_parent_of(int node, int n) {
  if (n % 2 == 0) {
    const int up = parent_of(n - 1 - node, n);
    return up < 0 ? -1 : n - 1 - up;
  }
  const int up = parent_of((node - 1 + n) % n, n);
  return up < 0 ? -1 : (up + 1) % n;
}

}  // namespace

TreeShape tree_shape(int tree, int nodes) {
  TreeShape shape;
  for (int node = 0; node < nodes; ++node) {
    shape.parent.push_back(tree == 0 ? parent_of(node, nodes) : second_parent_of(node, nodes));
  }
  shape.height.assign(shape.parent.size(), 0);
  for (std::size_t node = 0; node < shape.parent.size(); ++node) {
    int depth = 0;
    for (int up = shape.parent[node]; up >= 0; up = shape.parent[static_cast<std::size_t>(up)]) {
      ++depth;
      int& height = shape.height[static_cast<std::size_t>(up)];
      height = std::max(height, depth);
    }
    shape.depth.push_back(depth);
  }
  return shape;
}

}  // namespace amsp
