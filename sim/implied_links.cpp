// SPDX-License-Identifier: Apache-2.0
#include "sim/implied_links.hpp"

namespace amsp {
namespace {

// Height above the NICs; devices of a node are 0.
int level(VertexKind kind) {
  switch (kind) {
    case VertexKind::leaf:
      return 1;
    case VertexKind::spine:
      return 2;
    case VertexKind::core:
      return 3;
    default:
      return 0;
  }
}

}  // namespace

std::vector<char> implied_links(const Network& network, const std::vector<Bandwidth>& capacity) {
  const std::vector<Link>& links = network.links();
  const auto level_of = [&](VertexId vertex) {
    return level(network.vertices()[vertex.position()].kind);
  };
  // By vertex: what can come in from below, and what can go out to below.
  std::vector<Bandwidth> in(network.vertices().size()), out(network.vertices().size());
  for (std::size_t l = 0; l < links.size(); ++l) {
    if (level_of(links[l].from) < level_of(links[l].to)) in[links[l].to.position()] += capacity[l];
    if (level_of(links[l].from) > level_of(links[l].to))
      out[links[l].from.position()] += capacity[l];
  }
  constexpr double kRounding = 1 - 1e-12;  // sums of equal rates may differ in the last digit
  std::vector<char> implied(links.size(), 0);
  for (std::size_t l = 0; l < links.size(); ++l) {
    const int from = level_of(links[l].from);
    const int to = level_of(links[l].to);
    if (from >= 1 && to > from)
      implied[l] = capacity[l] >= in[links[l].from.position()] * kRounding;
    else if (to >= 1 && from > to)
      implied[l] = capacity[l] >= out[links[l].to.position()] * kRounding;
  }
  return implied;
}

}  // namespace amsp
