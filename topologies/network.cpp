// SPDX-License-Identifier: Apache-2.0
#include "topologies/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "topologies/fabric.hpp"
#include "topologies/node_template.hpp"

namespace amsp {

std::string_view name_of(VertexKind kind) {
  constexpr std::string_view names[] = {"gpu", "nvswitch", "pcie",  "cpu",
                                        "nic", "leaf",     "spine", "core"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(LinkKind kind) {
  constexpr std::string_view names[] = {"nvlink", "pcie", "socket", "nic", "fabric"};
  return names[static_cast<std::size_t>(kind)];
}

// Node k has vertices [k·V, (k+1)·V) and links [k·L, (k+1)·L): the template's, then, with a fabric,
// up and down of NIC 0, of NIC 1 …; fabric switches and links come after all nodes.
struct Network::Layout {
  NodeTemplate node;
  std::int32_t vertices_per_node;
  std::int32_t links_per_node;
  Fabric fabric;
  std::vector<Bandwidth> nic_rates;

  Layout(const ClusterSpec& cluster, const AchievableRates& rates)
      : node(cluster.node, cluster.achievable, rates),
        vertices_per_node(static_cast<std::int32_t>(node.vertices.size())),
        links_per_node(static_cast<std::int32_t>(
            node.links.size() +
            (cluster.fabric.kind == FabricKind::none ? 0 : 2 * cluster.node.nics.size()))),
        fabric(cluster, VertexId(cluster.nodes * vertices_per_node),
               LinkId(cluster.nodes * links_per_node)) {
    for (const NicSpec& nic : cluster.node.nics)
      nic_rates.push_back(rates.nic > Bandwidth(0) ? rates.nic : nic.rate * cluster.achievable.nic);
  }

  [[nodiscard]] LinkId nic_link(NodeId of, NicId nic, bool down) const {
    return LinkId(of.index * links_per_node + static_cast<std::int32_t>(node.links.size()) +
                  2 * nic.index + (down ? 1 : 0));
  }
  void append(const NodeTemplate::Route& route, NodeId of, std::vector<LinkId>& out) const {
    for (const LinkId link : route) out.push_back(LinkId(link.index + of.index * links_per_node));
  }
};

namespace {

// SplitMix64 (Steele, Lea, Flood 2014): a fixed, well mixed hash for ECMP.
std::uint64_t mixed(std::uint64_t state, std::uint64_t value) {
  std::uint64_t z = state + value + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Network::Network(const ClusterSpec& cluster, const AchievableRates& achievable)
    : cluster_(cluster), layout_(std::make_shared<const Layout>(cluster, achievable)) {
  const Layout& layout = *layout_;
  const auto nodes = static_cast<std::size_t>(cluster.nodes);
  vertices_.reserve(nodes * layout.node.vertices.size() + layout.fabric.vertex_count());
  links_.reserve(nodes * static_cast<std::size_t>(layout.links_per_node) +
                 layout.fabric.link_count());
  const FabricSpec& fabric = cluster.fabric;
  for (int n = 0; n < cluster.nodes; ++n) {
    const std::int32_t offset = n * layout.vertices_per_node;
    for (Vertex vertex : layout.node.vertices) {
      vertex.node = NodeId(n);
      vertices_.push_back(vertex);
    }
    for (Link link : layout.node.links) {
      link.from.index += offset;
      link.to.index += offset;
      links_.push_back(link);
    }
    if (fabric.kind == FabricKind::none) continue;
    for (std::size_t i = 0; i < layout.nic_rates.size(); ++i) {
      const VertexId nic(layout.node.nic_vertex(static_cast<int>(i)).index + offset);
      const VertexId leaf = layout.fabric.leaf_vertex(layout.fabric.leaf_of(NodeId(n), NicId(i)));
      const Bandwidth rate = layout.nic_rates[i];
      // A switch's latency is on the link into it.
      links_.push_back({nic, leaf, LinkKind::nic, rate, fabric.nic_latency + fabric.hop_latency});
      links_.push_back({leaf, nic, LinkKind::nic, rate, fabric.nic_latency});
    }
  }
  layout.fabric.build(layout.nic_rates, vertices_, links_);
}

std::string Network::name_of(VertexId id) const {
  const Vertex& vertex = vertices_[id.position()];
  const std::string_view kind = amsp::name_of(vertex.kind);
  if (vertex.kind == VertexKind::nvswitch) return fmt::format("node{}/{}", vertex.node.index, kind);
  if (vertex.node.valid()) return fmt::format("node{}/{}{}", vertex.node.index, kind, vertex.slot);
  if (vertex.kind != VertexKind::spine || !layout_->fabric.has_pods())
    return fmt::format("{}{}", kind, vertex.slot);
  const int planes = layout_->fabric.planes();
  return fmt::format("pod{}/{}{}", vertex.slot / planes, kind, vertex.slot % planes);
}

std::string Network::name_of(LinkId id) const {
  const Link& link = links_[id.position()];
  const Vertex& to = vertices_[link.to.position()];
  std::string target = name_of(link.to);
  if (to.node.valid() && to.node == vertices_[link.from.position()].node)
    target.erase(0, target.find('/') + 1);
  return fmt::format("{}→{}", name_of(link.from), target);
}

std::optional<LinkId> Network::find_link(std::string_view name) const {
  std::string wanted(name);
  if (const auto arrow = wanted.find("->"); arrow != std::string::npos)
    wanted.replace(arrow, 2, "→");
  for (std::size_t i = 0; i < links_.size(); ++i) {
    // A node's links are few; skip the others without making their names.
    const Vertex& from = vertices_[links_[i].from.position()];
    const bool in_node = wanted.starts_with("node");
    if (in_node != from.node.valid()) continue;
    if (in_node && !wanted.starts_with(fmt::format("node{}/", from.node.index))) {
      i = (from.node.position() + 1) * static_cast<std::size_t>(layout_->links_per_node) - 1;
      continue;
    }
    if (name_of(LinkId(i)) == wanted) return LinkId(i);
  }
  return std::nullopt;
}

std::vector<LinkId> Network::nic_links(NodeId node, NicId nic) const {
  if (cluster_.fabric.kind == FabricKind::none) return {};
  return {layout_->nic_link(node, nic, false), layout_->nic_link(node, nic, true)};
}

bool Network::works(NodeId node, NicId nic) const {
  if (cluster_.fabric.kind == FabricKind::none) return true;
  assert(nic.position() < cluster_.node.nics.size());  // numbered within their node
  for (const bool down : {false, true})                // asked of every hop: no list of them
    if (links_[layout_->nic_link(node, nic, down).position()].capacity <= Bandwidth(0))
      return false;
  return true;
}

void Network::scale_capacity(LinkId id, double factor) {
  Link& link = links_[id.position()];
  if (!std::isfinite(factor) || factor < 0)
    throw InputError(
        fmt::format("link {}: a factor of {} makes no sense; accepted: 0 (failed) "
                    "and above",
                    name_of(id), factor));
  const Bandwidth before = link.capacity;
  link.capacity *= factor;
  if (factor > 0) return;
  bool cut = link.kind != LinkKind::nic && link.kind != LinkKind::fabric;
  if (link.kind == LinkKind::fabric) cut = layout_->fabric.cuts_something(id, links_);
  if (link.kind == LinkKind::nic) {
    const Vertex& from = vertices_[link.from.position()];
    const NodeId node = from.node.valid() ? from.node : vertices_[link.to.position()].node;
    cut = true;
    for (std::size_t i = 0; i < cluster_.node.nics.size(); ++i) cut = cut && !works(node, NicId(i));
  }
  if (!cut) return;
  link.capacity = before;
  throw InputError(
      fmt::format("link {}: without it some GPUs cannot reach each other; "
                  "give a factor above 0 for a degraded link",
                  name_of(id)));
}

void Network::route_inside(GpuId from, GpuId to, std::vector<LinkId>& out) const {
  const NodeId node = cluster_.node_of(from);
  assert(node == cluster_.node_of(to));
  layout_->append(layout_->node.gpu_to_gpu(cluster_.slot_of(from), cluster_.slot_of(to)), node,
                  out);
}

void Network::route_across(GpuId from, NicId out_nic, GpuId to, NicId in_nic, int flow,
                           std::vector<LinkId>& out) const {
  const Layout& layout = *layout_;
  const NodeId source = cluster_.node_of(from);
  const NodeId target = cluster_.node_of(to);
  assert(source != target && cluster_.fabric.kind != FabricKind::none);
  out_nic = working(source, out_nic, cluster_.slot_of(from));
  in_nic = working(target, in_nic, cluster_.slot_of(to));
  layout.append(layout.node.gpu_to_nic(cluster_.slot_of(from), out_nic.index), source, out);
  out.push_back(layout.nic_link(source, out_nic, false));
  std::uint64_t hash = cluster_.fabric.ecmp_seed;
  for (const std::int32_t part : {source.index, out_nic.index, target.index, in_nic.index, flow})
    hash = mixed(hash, static_cast<std::uint64_t>(part));
  layout.fabric.route(layout.fabric.leaf_of(source, out_nic), layout.fabric.leaf_of(target, in_nic),
                      hash, links_, out);
  out.push_back(layout.nic_link(target, in_nic, true));
  layout.append(layout.node.nic_to_gpu(in_nic.index, cluster_.slot_of(to)), target, out);
}

// The NIC itself, or the nearest one that has not failed (scale_capacity keeps one).
NicId Network::working(NodeId node, NicId nic, int slot) const {
  if (works(node, nic)) return nic;
  const int count = static_cast<int>(cluster_.node.nics.size());
  NicId best;
  for (int i = 1; i < count; ++i) {
    const NicId other((nic.index + i) % count);
    if (!works(node, other)) continue;
    const auto distance = [&](NicId id) { return layout_->node.nic_distance(slot, id.index); };
    if (!best.valid() || distance(other) < distance(best)) best = other;
  }
  assert(best.valid());
  return best;
}

int Network::nic_distance(int slot, NicId nic) const {
  return layout_->node.nic_distance(slot, nic.index);
}

std::vector<NicId> Network::nics_of(std::span<const int> slots) const {
  std::vector<NicId> nics;
  const int count = static_cast<int>(cluster_.node.nics.size());
  const auto add = [&nics](NicId nic) {
    if (std::find(nics.begin(), nics.end(), nic) == nics.end()) nics.push_back(nic);
  };
  for (const int slot : slots) {
    int nearest = 2;
    for (int nic = 0; nic < count; ++nic)
      nearest = std::min(nearest, layout_->node.nic_distance(slot, nic));
    for (int nic = 0; nic < count; ++nic)
      if (layout_->node.nic_distance(slot, nic) == nearest) add(NicId(nic));
  }
  if (static_cast<int>(slots.size()) >= cluster_.node.gpus)
    for (int nic = 0; nic < count; ++nic) add(NicId(nic));
  return nics;
}

std::vector<NicId> Network::nics_of(NodeId node, std::span<const int> slots) const {
  std::vector<NicId> nics = nics_of(slots);
  std::erase_if(nics, [&](NicId nic) { return !works(node, nic); });
  for (std::size_t i = 0; nics.empty() && i < cluster_.node.nics.size(); ++i)
    if (works(node, NicId(i))) nics.push_back(NicId(i));
  return nics;
}

int Network::leaf_of(NodeId node, NicId nic) const { return layout_->fabric.leaf_of(node, nic); }

int Network::pod_of(NodeId node) const {
  const int leaf = leaf_of(node, NicId(0));
  return leaf < 0 ? -1 : layout_->fabric.pod_of(leaf);
}

}  // namespace amsp
