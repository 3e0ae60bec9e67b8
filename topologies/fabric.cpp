// SPDX-License-Identifier: Apache-2.0
#include "topologies/fabric.hpp"

#include <cassert>
#include <limits>
#include <numeric>

namespace amsp {
namespace {

std::int64_t rounded_up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace

FabricSize size_of_fabric(const ClusterSpec& cluster) {
  const FabricSpec& fabric = cluster.fabric;
  const auto nics = static_cast<std::int64_t>(cluster.node.nics.size());
  if (fabric.kind == FabricKind::none || nics == 0) return {};
  if (fabric.kind == FabricKind::single_switch) return {.leaves = 1, .planes = 0, .pods = 1};
  FabricSize size{.leaves = rounded_up(cluster.nodes, fabric.nodes_per_leaf), .pods = 1};
  if (fabric.kind == FabricKind::rail_optimized) size.leaves *= nics;
  if (size.leaves > 1) size.planes = fabric.spreading == Spreading::ecmp ? fabric.spines : 1;
  if (fabric.kind == FabricKind::fat_tree)
    size.pods = rounded_up(size.leaves, fabric.leaves_per_pod);
  return size;
}

Fabric::Fabric(const ClusterSpec& cluster, VertexId first_vertex, LinkId first_link)
    : spec_(cluster.fabric),
      nics_(static_cast<int>(cluster.node.nics.size())),
      first_vertex_(first_vertex),
      first_link_(first_link) {
  const FabricSize size = size_of_fabric(cluster);
  assert(size.leaves + size.links() <= std::numeric_limits<int>::max());
  leaves_ = static_cast<int>(size.leaves);
  planes_ = static_cast<int>(size.planes);
  pods_ = static_cast<int>(size.pods);
  core_ = size.core();
}

std::size_t Fabric::vertex_count() const {
  return static_cast<std::size_t>(leaves_ + pods_ * planes_ + (core_ ? planes_ : 0));
}

std::size_t Fabric::link_count() const {
  const auto pairs = static_cast<std::size_t>(leaves_ + (core_ ? pods_ : 0));
  return 2 * pairs * static_cast<std::size_t>(planes_);
}

LinkId Fabric::leaf_link(int leaf, int plane, bool down) const {
  return LinkId(first_link_.index + 2 * (leaf * planes_ + plane) + (down ? 1 : 0));
}

LinkId Fabric::pod_link(int pod, int plane, bool down) const {
  return LinkId(first_link_.index + 2 * ((leaves_ + pod) * planes_ + plane) + (down ? 1 : 0));
}

int Fabric::leaf_of(NodeId node, NicId nic) const {
  if (leaves_ == 0) return -1;
  if (spec_.kind == FabricKind::single_switch) return 0;
  const int group = node.index / spec_.nodes_per_leaf;
  return spec_.kind == FabricKind::rail_optimized ? group * nics_ + nic.index : group;
}

int Fabric::pod_of(int leaf) const { return has_pods() ? leaf / spec_.leaves_per_pod : 0; }

// A full leaf's NICs set its capacity upwards, also where the last leaf has fewer nodes.
void Fabric::build(const std::vector<Bandwidth>& nic_rates, std::vector<Vertex>& vertices,
                   std::vector<Link>& links) const {
  for (int leaf = 0; leaf < leaves_; ++leaf) vertices.push_back({VertexKind::leaf, NodeId(), leaf});
  for (int spine = 0; spine < pods_ * planes_; ++spine)
    vertices.push_back({VertexKind::spine, NodeId(), spine});
  for (int core = 0; core_ && core < planes_; ++core)
    vertices.push_back({VertexKind::core, NodeId(), core});
  if (planes_ == 0) return;

  const Bandwidth node_rate = std::accumulate(nic_rates.begin(), nic_rates.end(), Bandwidth(0));
  const auto add = [&](VertexId a, VertexId b, Bandwidth rate) {
    links.push_back({a, b, LinkKind::fabric, rate, spec_.hop_latency});
    links.push_back({b, a, LinkKind::fabric, rate, spec_.hop_latency});
  };
  for (int leaf = 0; leaf < leaves_; ++leaf) {
    const bool rails = spec_.kind == FabricKind::rail_optimized;
    const Bandwidth below = rails ? nic_rates[static_cast<std::size_t>(leaf % nics_)] : node_rate;
    const Bandwidth up = below * (spec_.nodes_per_leaf / spec_.oversubscription / planes_);
    for (int plane = 0; plane < planes_; ++plane)
      add(at(leaf), at(leaves_ + pod_of(leaf) * planes_ + plane), up);
  }
  if (!core_) return;
  const double leaf_share = spec_.nodes_per_leaf / spec_.oversubscription;
  const Bandwidth up =
      node_rate * (leaf_share * spec_.leaves_per_pod / spec_.core_oversubscription / planes_);
  for (int pod = 0; pod < pods_; ++pod)
    for (int plane = 0; plane < planes_; ++plane)
      add(at(leaves_ + pod * planes_ + plane), at(leaves_ + pods_ * planes_ + plane), up);
}

std::vector<LinkId> Fabric::way(int from, int to, int plane) const {
  if (from == to) return {};
  if (pod_of(from) == pod_of(to))
    return {leaf_link(from, plane, false), leaf_link(to, plane, true)};
  return {leaf_link(from, plane, false), pod_link(pod_of(from), plane, false),
          pod_link(pod_of(to), plane, true), leaf_link(to, plane, true)};
}

bool Fabric::alive(int from, int to, int plane, const std::vector<Link>& links) const {
  for (const LinkId link : way(from, to, plane))
    if (links[link.position()].capacity <= Bandwidth(0)) return false;
  return true;
}

void Fabric::route(int from, int to, std::uint64_t hash, const std::vector<Link>& links,
                   std::vector<LinkId>& out) const {
  if (from == to) return;
  assert(planes_ > 0);
  int plane = static_cast<int>(hash % static_cast<std::uint64_t>(planes_));
  // Fail over to the next plane that is whole; cuts_something() keeps one.
  for (int tried = 0; tried < planes_ && !alive(from, to, plane, links); ++tried)
    plane = (plane + 1) % planes_;
  for (const LinkId link : way(from, to, plane)) out.push_back(link);
}

bool Fabric::cuts_something(LinkId failed, const std::vector<Link>& links) const {
  const int number = (failed.index - first_link_.index) / 2 / planes_;
  const auto reaches_all = [&](int leaf) {
    for (int other = 0; other < leaves_; ++other) {
      bool any = other == leaf;
      for (int plane = 0; plane < planes_ && !any; ++plane)
        any = alive(leaf, other, plane, links) && alive(other, leaf, plane, links);
      if (!any) return false;
    }
    return true;
  };
  if (number < leaves_) return !reaches_all(number);
  for (int leaf = 0; leaf < leaves_; ++leaf)
    if (pod_of(leaf) == number - leaves_ && !reaches_all(leaf)) return true;
  return false;
}

}  // namespace amsp
