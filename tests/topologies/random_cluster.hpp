// SPDX-License-Identifier: Apache-2.0
// Random clusters of every kind for property tests. Draws with rapidcheck, so that a failing
// cluster shrinks.
#pragma once
#include <rapidcheck.h>

#include "topologies/cluster.hpp"

namespace amsp::test {

inline int draw(int low, int high) { return *rc::gen::inRange(low, high + 1); }

inline void draw_mesh(IntraNodeSpec& intra, int gpus) {
  for (int a = 0; a < gpus; ++a)
    for (int b = a + 1; b < gpus; ++b)
      if (const int links = draw(0, 2); links > 0) intra.mesh_links[{a, b}] = links;
  if (intra.mesh_links.empty()) intra.mesh_links[{0, 1}] = 1;
}

inline NodeSpec draw_node() {
  NodeSpec node;
  node.gpu = find_gpu_type("a100-sxm4-80gb").spec;
  node.gpus = draw(1, 8);
  const int kinds = node.gpus > 1 ? 2 : 0;
  node.intra.kind = static_cast<IntraNodeKind>(draw(0, kinds));
  node.intra.gpu_rate = gigabytes_per_second(draw(50, 900));
  node.intra.latency = microseconds(0.3);
  if (node.intra.kind == IntraNodeKind::nvswitch && node.gpus > 1 && draw(0, 3) == 0)
    node.intra.slower_gpus[draw(0, node.gpus - 1)] = gigabytes_per_second(draw(0, 1) * draw(1, 49));
  node.pcie_rate = gigabytes_per_second(draw(8, 64));
  node.pcie_latency = microseconds(0.15);
  const int sockets = draw(1, 2);
  if (sockets > 1) node.socket_rate = gigabytes_per_second(draw(6, 40));
  const int switches = draw(0, 4);
  for (int i = 0; i < switches; ++i) node.switch_socket.push_back(draw(0, sockets - 1));
  for (int i = 0; i < node.gpus; ++i) {
    if (switches > 0) node.gpu_switch.push_back(draw(-1, switches - 1));
    node.gpu_socket.push_back(draw(0, sockets - 1));
  }
  if (node.intra.kind == IntraNodeKind::nvlink_mesh) {
    draw_mesh(node.intra, node.gpus);
    node.intra.mesh_link_rate = gigabytes_per_second(25);
  }
  for (int i = draw(1, 4); i > 0; --i) {
    NicSpec nic;
    nic.name = "nic" + std::to_string(i);
    nic.rate = gigabits_per_second(100 * draw(1, 8));
    nic.pcie_switch = draw(-1, switches - 1);
    nic.socket = nic.pcie_switch < 0
                     ? draw(0, sockets - 1)
                     : node.switch_socket[static_cast<std::size_t>(nic.pcie_switch)];
    if (draw(0, 1) == 1) nic.gpus.push_back(draw(0, node.gpus - 1));
    node.nics.push_back(nic);
  }
  return node;
}

inline FabricSpec draw_fabric() {
  FabricSpec fabric;
  fabric.kind = static_cast<FabricKind>(draw(1, 4));
  fabric.hop_latency = microseconds(0.13);
  fabric.nic_latency = microseconds(0.3);
  if (fabric.kind == FabricKind::single_switch) return fabric;
  fabric.nodes_per_leaf = draw(1, 4);
  fabric.oversubscription = draw(1, 4);
  fabric.spines = draw(0, 4);
  if (fabric.spines > 0) fabric.spreading = static_cast<Spreading>(draw(0, 1));
  fabric.ecmp_seed = static_cast<std::uint64_t>(draw(0, 1000));
  if (fabric.kind == FabricKind::fat_tree) {
    fabric.leaves_per_pod = draw(1, 3);
    fabric.core_oversubscription = draw(1, 2);
  }
  return fabric;
}

// A valid cluster: printed and parsed, so that derived values are in place.
inline ClusterSpec draw_cluster() {
  ClusterSpec cluster;
  cluster.name = "random";
  cluster.nodes = draw(1, 12);
  cluster.node = draw_node();
  cluster.fabric = draw_fabric();
  return parse_cluster(JsonValue::parse_text(to_json(cluster), "random cluster"));
}

}  // namespace amsp::test
