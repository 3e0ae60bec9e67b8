// SPDX-License-Identifier: Apache-2.0
// NVLSTree: NVLink SHARP inside each node ((r+1)/r x bytes on a port), NCCL's double binary tree
// across nodes, one head GPU per channel.
#include "calibrate/group_layout.hpp"
#include "calibrate/tree_shape.hpp"

namespace amsp {
namespace {

class NvlsTree : public CollectiveAlgorithm {
 public:
  std::string_view name() const override { return "nvls_tree"; }
  std::string_view description() const override {
    return "NVSwitch adds inside nodes, double binary tree across: all_reduce";
  }
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }

  Traffic traffic(CollectiveKind, Bytes bytes, std::span<const GpuId> group, int,
                  const Network& network) const override {
    if (group.size() < 2) return {};
    const GroupLayout layout(group, network);
    LoadSum sum(network);
    inside(layout, network, sum);
    std::vector<LinkId> route;
    for (int tree = 0; tree < 2; ++tree) {
      const TreeShape shape = tree_shape(tree, static_cast<int>(layout.nodes.size()));
      for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
        if (shape.parent[node] < 0) continue;
        const auto above = static_cast<std::size_t>(shape.parent[node]);
        for (int channel = 0; channel < layout.channels; ++channel) {
          const GpuId child = layout.chain(node, channel, network.cluster()).front();
          const GpuId parent = layout.chain(above, channel, network.cluster()).front();
          const NicId child_nic = layout.nic(node, channel);
          const NicId parent_nic = layout.nic(above, channel);
          route.clear();
          append_hop(network, child, child, child_nic, parent, parent_nic, channel, route);
          append_hop(network, parent, parent, parent_nic, child, child_nic, channel, route);
          sum.add(route, 1.0);
        }
      }
    }
    return {bytes / (2.0 * layout.channels), sum.take()};
  }

  std::vector<Message> messages(CollectiveKind, Bytes, std::span<const GpuId>, int,
                                const Network&) const override {
    return {};
  }

 private:
  static void inside(const GroupLayout& layout, const Network& network, LoadSum& sum) {
    std::vector<LinkId> route;
    for (const NodeMembers& members : layout.nodes) {
      const auto r = members.gpus.size();
      if (r < 2) continue;
      const double share = static_cast<double>(r + 1) / static_cast<double>(r);
      for (std::size_t i = 0; i < r; ++i) {
        route.clear();
        network.route_inside(members.gpus[i], members.gpus[(i + 1) % r], route);
        sum.add(route, 2.0 * layout.channels * share);
      }
    }
  }
};

}  // namespace

std::unique_ptr<CollectiveAlgorithm> algorithm_nvls_tree() { return std::make_unique<NvlsTree>(); }

}  // namespace amsp
