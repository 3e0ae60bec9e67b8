// SPDX-License-Identifier: Apache-2.0
// Fabric links that can never be the bottleneck: a link up from a switch that is at least as fast
// as all links into the switch from below together, or a link down to a switch that is at least as
// fast as all links out of it to below. All that such a link carries also crosses those links, so
// its own constraint follows from theirs, and max-min shares are the same without it. A
// non-blocking fabric with ideal spreading therefore does not split classes
// (docs/model/60-folding.md). NIC links are never implied, so there is no circle.
#pragma once
#include <vector>

#include "base/quantity.hpp"
#include "topologies/network.hpp"

namespace amsp {

// By link; `capacity` as perturbed.
std::vector<char> implied_links(const Network& network, const std::vector<Bandwidth>& capacity);

}  // namespace amsp
