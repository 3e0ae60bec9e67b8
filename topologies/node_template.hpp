// SPDX-License-Identifier: Apache-2.0
// One node of a cluster: its devices, the links between them and the shortest routes, with numbers
// that start at 0. Every node of the cluster is a copy with an offset.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "topologies/network.hpp"

namespace amsp {

class NodeTemplate {
 public:
  // Throws InputError when two GPUs, or a GPU and a NIC, have no path between them.
  NodeTemplate(const NodeSpec& node, const Achievable& share, const AchievableRates& rates);

  // In this order: GPUs, NVSwitch, PCIe switches, CPU sockets, NICs.
  std::vector<Vertex> vertices;
  std::vector<Link> links;

  using Route = std::vector<LinkId>;
  [[nodiscard]] const Route& gpu_to_gpu(int from, int to) const;
  [[nodiscard]] const Route& gpu_to_nic(int gpu, int nic) const;
  [[nodiscard]] const Route& nic_to_gpu(int nic, int gpu) const;
  [[nodiscard]] VertexId nic_vertex(int nic) const { return VertexId(first_nic_ + nic); }
  // NICs of a slot by distance: 0 = stated affinity or same PCIe switch, 1 = same socket, 2 = else.
  [[nodiscard]] int nic_distance(int slot, int nic) const;

 private:
  void add_vertices(const NodeSpec& node);
  void add_pair(std::int32_t a, std::int32_t b, LinkKind kind, Bandwidth rate, Seconds latency);
  void add_nvlinks(const NodeSpec& node, Bandwidth gpu_rate);
  void add_pcie(const NodeSpec& node, Bandwidth floor, Bandwidth default_rate);
  void find_routes();
  void route_through_neighbours();
  void check_routes(const NodeSpec& node) const;

  std::int32_t gpus_ = 0;
  std::int32_t nics_ = 0;
  std::int32_t first_switch_ = 0;
  std::int32_t first_cpu_ = 0;
  std::int32_t first_nic_ = 0;
  std::vector<int> distance_;
  std::vector<Route> gpu_to_gpu_, gpu_to_nic_, nic_to_gpu_;
};

}  // namespace amsp
