// SPDX-License-Identifier: Apache-2.0
// A network in words, figures and a drawing.
#pragma once
#include <string>

#include "topologies/network.hpp"

namespace amsp {

std::string describe_as_table(const Network& network);
std::string describe_as_json(const Network& network);
// Graphviz. Draws all fabric switches and the first `nodes` nodes; says how many it left out.
std::string describe_as_dot(const Network& network, int nodes);

}  // namespace amsp
