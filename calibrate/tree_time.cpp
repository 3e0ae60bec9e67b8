// SPDX-License-Identifier: Apache-2.0
#include "calibrate/tree_time.hpp"

#include <algorithm>
#include <cmath>

namespace amsp {

// With two nodes each is the root of one tree and the leaf of the other (1 x bytes), with three
// 1.5 x, beyond that 2 x.
Bytes tree_nic_bytes(Bytes bytes, const GroupShape& shape, int nics) {
  if (shape.nodes < 2) return Bytes(0);
  const double factor = shape.nodes == 2 ? 1.0 : shape.nodes == 3 ? 1.5 : 2.0;
  return bytes * (factor / nics);
}

Seconds tree_path_across(const NcclCall& call, const PhysicsParameters& p) {
  const double nodes = call.shape.nodes;
  constexpr double largest_chunk = 524288, half = 65536;  // src/enqueue.cc
  const double message = std::min(call.bytes.value() / (4.0 * call.nics), largest_chunk);
  const double chunks = 1 + p[Parameter::tree_growth] * message / (message + half);
  double hop = of_protocol(p, Parameter::across_ll, call.protocol).value();
  hop *= p[Parameter::tree_step] * chunks;
  hop *= std::pow(nodes / 2.0, p[Parameter::across_growth]);
  return Seconds(2.0 * std::log2(nodes) * hop);
}

double tree_loss(const GroupShape& shape, const PhysicsParameters& p) {
  return 1 + p[Parameter::tree_loss] * (shape.nodes / 2.0 - 1);
}

}  // namespace amsp
