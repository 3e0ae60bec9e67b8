// SPDX-License-Identifier: Apache-2.0
#include "calibrate/group_layout.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <unordered_map>

#include "calibrate/mesh_rings.hpp"

namespace amsp {
namespace {

// 0 = named as nearest; where none is named, by switch and socket.
int distance(const Network& network, NicId nic, GpuId gpu) {
  const int slot = network.cluster().slot_of(gpu);
  const auto& named = network.cluster().node.nics[nic.position()].gpus;
  if (std::find(named.begin(), named.end(), slot) != named.end()) return 0;
  return network.nic_distance(slot, nic) + (named.empty() ? 0 : 1);
}

// Those of `gpus` that no other is nearer to the NIC than.
std::vector<std::size_t> nearest(const Network& network, NicId nic, std::span<const GpuId> gpus) {
  std::vector<std::size_t> best;
  int least = 0;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const int here = distance(network, nic, gpus[i]);
    if (best.empty() || here < least) {
      best.clear();
      least = here;
    }
    if (here == least) best.push_back(i);
  }
  return best;
}

}  // namespace

GroupLayout::GroupLayout(std::span<const GpuId> group, const Network& network)
    : ranks(static_cast<int>(group.size())) {
  assert(!group.empty());
  const ClusterSpec& cluster = network.cluster();
  std::unordered_map<NodeId, std::size_t> position;  // looked up only, never walked
  for (std::size_t i = 0; i < group.size(); ++i) {
    const NodeId node = cluster.node_of(group[i]);
    const auto [at, is_new] = position.emplace(node, nodes.size());
    if (is_new) nodes.push_back(NodeMembers{node, {}, {}, {}});
    nodes[at->second].gpus.push_back(group[i]);
    nodes[at->second].index.push_back(static_cast<int>(i));
  }
  if (nodes.size() < 2) return;
  std::size_t least = 0;
  for (NodeMembers& members : nodes) {
    std::vector<int> slots;
    for (const GpuId gpu : members.gpus) slots.push_back(cluster.slot_of(gpu));
    members.nics = network.nics_of(members.node, slots);
    assert(!members.nics.empty());
    least = least == 0 ? members.nics.size() : std::min(least, members.nics.size());
  }
  channels = static_cast<int>(least);
}

GroupShape GroupLayout::shape() const {
  GroupShape shape{ranks, 1, static_cast<int>(nodes.size()), nodes.size() < 2 ? 0 : channels};
  for (const NodeMembers& members : nodes) {
    shape.ranks_per_node = std::max(shape.ranks_per_node, static_cast<int>(members.gpus.size()));
  }
  return shape;
}

NicId GroupLayout::nic(std::size_t node, int channel) const {
  const auto& nics = nodes[node].nics;
  return nics[static_cast<std::size_t>(channel) % nics.size()];
}

std::vector<GpuId> GroupLayout::chain(std::size_t node, int channel, const Network& network) const {
  std::vector<GpuId> order = nodes[node].gpus;
  if (nodes.size() < 2) return order;
  const NicId entry = nic(node, channel);
  const std::vector<std::size_t> near = nearest(network, entry, order);
  // NICs that are as near to the same GPUs take turns among them.
  std::size_t turn = 0;
  for (const NicId other : nodes[node].nics) {
    if (near.size() == 1 || other == entry) break;
    if (nearest(network, other, order) == near) ++turn;
  }
  const std::size_t first = near[near.size() - 1 - turn % near.size()];
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first), order.end());
  return order;
}

void append_hop(const Network& network, GpuId from, GpuId gateway, NicId out_nic, GpuId to,
                NicId in_nic, int flow, std::vector<LinkId>& out) {
  const ClusterSpec& cluster = network.cluster();
  if (cluster.node_of(from) == cluster.node_of(to)) {
    network.route_inside(from, to, out);
    return;
  }
  if (distance(network, out_nic, from) > distance(network, out_nic, gateway)) {
    network.route_inside(from, gateway, out);
    from = gateway;
  }
  network.route_across(from, out_nic, to, in_nic, flow, out);
}

std::vector<GroupLayout> mesh_layouts(const GroupLayout& layout, const ClusterSpec& cluster) {
  std::vector<std::vector<std::vector<GpuId>>> orders;  // by node
  std::size_t count = layout.nodes.empty() ? 0 : SIZE_MAX;
  for (const NodeMembers& members : layout.nodes) {
    orders.push_back(mesh_rings(members.gpus, cluster));
    count = std::min(count, orders.back().size());
    if (count == 0) return {layout};
  }
  std::vector<GroupLayout> turned(count, layout);
  for (std::size_t ring = 0; ring < count; ++ring) {
    for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
      turned[ring].nodes[node].gpus = orders[node][ring];
    }
  }
  return turned;
}

namespace {

std::vector<double>& scratch(std::size_t links) {
  thread_local std::vector<double> load;
  if (load.size() < links) load.resize(links, 0.0);
  return load;
}

}  // namespace

LoadSum::LoadSum(const Network& network) : load_(scratch(network.links().size())) {}

void LoadSum::add(std::span<const LinkId> route, double load) {
  for (const LinkId link : route) {
    double& sum = load_[link.position()];
    if (sum == 0) touched_.push_back(link);
    sum += load;
  }
}

std::vector<LinkLoad> LoadSum::take() {
  std::sort(touched_.begin(), touched_.end());
  std::vector<LinkLoad> loads;
  loads.reserve(touched_.size());
  for (const LinkId link : touched_) {
    loads.push_back({link, load_[link.position()]});
    load_[link.position()] = 0;
  }
  touched_.clear();
  return loads;
}

}  // namespace amsp
