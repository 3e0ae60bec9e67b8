// SPDX-License-Identifier: Apache-2.0
// How a group lies on the cluster (its GPUs by node, the NICs they use), and the sum of the loads
// that an algorithm puts on links.
#pragma once
#include <span>
#include <vector>

#include "base/id.hpp"
#include "calibrate/collective_algorithm.hpp"
#include "calibrate/group_shape.hpp"
#include "topologies/network.hpp"

namespace amsp {

struct NodeMembers {
  NodeId node;
  std::vector<GpuId> gpus;  // in the order of the group
  std::vector<int> index;   // their indices in the group
  std::vector<NicId> nics;  // that their traffic uses; empty when the group lies in one node
};

struct GroupLayout {
  std::vector<NodeMembers> nodes;  // in the order of their first member
  int ranks = 0;
  int channels = 1;  // one per NIC that every node of the group can use; 1 inside a node

  GroupLayout(std::span<const GpuId> group, const Network& network);
  [[nodiscard]] GroupShape shape() const;
  [[nodiscard]] NicId nic(std::size_t node, int channel) const;

  // The GPUs of a node as a chain for a channel: the first is one of those nearest to the channel's
  // NIC and so is the last where two are; NICs nearest to the same GPUs take turns among them. The
  // order of the group is kept, rotated.
  [[nodiscard]] std::vector<GpuId> chain(std::size_t node, int channel,
                                         const Network& network) const;
};

// In a mesh of NVLinks one order of the GPUs would load one link of each: the layout once for every
// ring of the mesh, its nodes' GPUs in the ring's order. Elsewhere the layout as it is.
std::vector<GroupLayout> mesh_layouts(const GroupLayout& layout, const ClusterSpec& cluster);

// Appends the path from `from` to `to`, which enters and leaves nodes by the given NICs. Where
// `from` is not near the NIC, the data first go to `gateway` over NVLink (NCCL's PXN).
void append_hop(const Network& network, GpuId from, GpuId gateway, NicId out_nic, GpuId to,
                NicId in_nic, int flow, std::vector<LinkId>& out);

// Adds loads up; linear in what is added, whatever the size of the network.
class LoadSum {
 public:
  explicit LoadSum(const Network& network);
  void add(std::span<const LinkId> route, double load);
  [[nodiscard]] std::vector<LinkLoad> take();  // sorted by link; empties the sum

 private:
  std::vector<double>& load_;  // by link; all zero between uses
  std::vector<LinkId> touched_;
};

}  // namespace amsp
