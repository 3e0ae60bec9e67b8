// SPDX-License-Identifier: Apache-2.0
// The switches between nodes: numbering of their vertices and links, and the way from one leaf
// switch to another. A "plane" is one of the equal paths (spines); ideal spreading has one plane,
// a pipe with the capacity of them all.
#pragma once
#include <cstdint>
#include <vector>

#include "topologies/network.hpp"

namespace amsp {

// How many switches and equal paths; in 64 bits, so that what is too large can be refused.
struct FabricSize {
  std::int64_t leaves = 0;
  std::int64_t planes = 0;  // 0: one leaf, nothing above it
  std::int64_t pods = 0;    // fat_tree; 1 otherwise
  [[nodiscard]] bool core() const { return pods > 1; }
  [[nodiscard]] std::int64_t links() const { return 2 * (leaves + (core() ? pods : 0)) * planes; }
};
FabricSize size_of_fabric(const ClusterSpec& cluster);

class Fabric {
 public:
  // The caller has seen that the fabric's links can be numbered (check of a cluster's size).
  // Vertices and links from these numbers on; links of the NICs are not among them.
  Fabric(const ClusterSpec& cluster, VertexId first_vertex, LinkId first_link);

  // `nic_rates`: achievable rate of each NIC of a node.
  void build(const std::vector<Bandwidth>& nic_rates, std::vector<Vertex>& vertices,
             std::vector<Link>& links) const;

  [[nodiscard]] int leaves() const { return leaves_; }
  [[nodiscard]] int planes() const { return planes_; }
  [[nodiscard]] bool has_pods() const { return spec_.kind == FabricKind::fat_tree; }
  [[nodiscard]] int leaf_of(NodeId node, NicId nic) const;
  [[nodiscard]] int pod_of(int leaf) const;
  [[nodiscard]] VertexId leaf_vertex(int leaf) const { return at(leaf); }
  [[nodiscard]] std::size_t vertex_count() const;
  [[nodiscard]] std::size_t link_count() const;

  // Appends the links from one leaf to another, on a plane that `hash` picks among those whose
  // links all have capacity.
  void route(int from, int to, std::uint64_t hash, const std::vector<Link>& links,
             std::vector<LinkId>& out) const;
  // Whether a failed link (capacity 0) leaves some pair of leaves without a way.
  [[nodiscard]] bool cuts_something(LinkId failed, const std::vector<Link>& links) const;

 private:
  [[nodiscard]] VertexId at(int offset) const { return VertexId(first_vertex_.index + offset); }
  [[nodiscard]] LinkId leaf_link(int leaf, int plane, bool down) const;
  [[nodiscard]] LinkId pod_link(int pod, int plane, bool down) const;
  [[nodiscard]] std::vector<LinkId> way(int from, int to, int plane) const;
  [[nodiscard]] bool alive(int from, int to, int plane, const std::vector<Link>& links) const;

  FabricSpec spec_;
  int nics_ = 0;
  VertexId first_vertex_;
  LinkId first_link_;
  int leaves_ = 0;
  int planes_ = 0;
  int pods_ = 0;
  bool core_ = false;
};

}  // namespace amsp
