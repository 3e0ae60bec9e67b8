// SPDX-License-Identifier: Apache-2.0
// Ring: one ring per channel; a channel enters each node by its NIC, visits the node's GPUs over
// NVLink and leaves by the same NIC. Reductions and gathers go once or twice around; broadcast and
// reduce are pipelined chains, a ring without the edge into (out of) the root.
#include <algorithm>
#include <cmath>

#include "calibrate/group_layout.hpp"

namespace amsp {
namespace {

struct Edge {
  GpuId from, to;
  std::vector<LinkId> route;
};

// Edge i leads from the i-th GPU of the ring to the next.
std::vector<Edge> ring_edges(const GroupLayout& layout, int channel, const Network& network) {
  const ClusterSpec& cluster = network.cluster();
  std::vector<Edge> edges;
  edges.reserve(static_cast<std::size_t>(layout.ranks));
  std::vector<GpuId> here = layout.chain(0, channel, cluster);
  const std::vector<GpuId> first = here;
  for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
    for (std::size_t i = 0; i + 1 < here.size(); ++i) {
      edges.push_back({here[i], here[i + 1], {}});
      network.route_inside(here[i], here[i + 1], edges.back().route);
    }
    const std::size_t next = (node + 1) % layout.nodes.size();
    const std::vector<GpuId> there = next == 0 ? first : layout.chain(next, channel, cluster);
    edges.push_back({here.back(), there.front(), {}});
    if (layout.nodes.size() == 1) {
      network.route_inside(here.back(), there.front(), edges.back().route);
    } else {
      append_hop(network, here.back(), here.front(), layout.nic(node, channel), there.front(),
                 layout.nic(next, channel), channel, edges.back().route);
    }
    here = there;
  }
  return edges;
}

// All rings of the group: one per channel, on each ring of an NVLink mesh.
std::vector<std::vector<Edge>> all_rings(const GroupLayout& layout, const Network& network) {
  std::vector<std::vector<Edge>> rings;
  for (const GroupLayout& turned : mesh_layouts(layout, network.cluster())) {
    for (int channel = 0; channel < layout.channels; ++channel) {
      rings.push_back(ring_edges(turned, channel, network));
    }
  }
  return rings;
}

bool is_chain(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
}

// NCCL's slice of a Simple ring: 2 of 8 slots of 512 KiB (NCCL, src/enqueue.cc and src/device).
constexpr double slice_bytes = 1048576.0;

class Ring : public CollectiveAlgorithm {
 public:
  std::string_view name() const override { return "ring"; }
  std::string_view description() const override {
    return "one ring per NIC (or NVLink path) over all ranks; broadcast and reduce as chains";
  }
  bool supports(CollectiveKind kind) const override {
    switch (kind) {
      case CollectiveKind::all_reduce:
      case CollectiveKind::all_gather:
      case CollectiveKind::reduce_scatter:
      case CollectiveKind::broadcast:
      case CollectiveKind::reduce:
        return true;
      default:
        return false;
    }
  }

  Traffic traffic(CollectiveKind kind, Bytes bytes, std::span<const GpuId> group, int root,
                  const Network& network) const override {
    if (group.size() < 2) return {};
    const GroupLayout layout(group, network);
    const auto rings = all_rings(layout, network);
    LoadSum sum(network);
    for (const auto& edges : rings) {
      for (const Edge& edge : edges) {
        const bool unused = (kind == CollectiveKind::broadcast && edge.to == group[at(root)]) ||
                            (kind == CollectiveKind::reduce && edge.from == group[at(root)]);
        if (!unused) sum.add(edge.route, 1.0);
      }
    }
    const double share = bus_factor(kind, layout.ranks) / static_cast<double>(rings.size());
    return {bytes * share, sum.take()};
  }

  std::vector<Message> messages(CollectiveKind kind, Bytes bytes, std::span<const GpuId> group,
                                int root, const Network& network) const override {
    std::vector<Message> all;
    if (group.size() < 2) return all;
    const GroupLayout layout(group, network);
    const auto rings = all_rings(layout, network);
    for (std::size_t channel = 0; channel < rings.size(); ++channel) {
      const Bytes part = bytes / static_cast<double>(rings.size());
      const int number = static_cast<int>(channel);
      if (is_chain(kind)) {
        chain_messages(kind, part, rings[channel], group[at(root)], number, all);
      } else {
        ring_messages(kind, part, rings[channel], number, all);
      }
    }
    return all;
  }

 private:
  static std::size_t at(int root) { return static_cast<std::size_t>(root); }

  // Every rank sends one n-th of the part to its successor in each of n-1 (all_reduce: 2(n-1))
  // steps.
  static void ring_messages(CollectiveKind kind, Bytes part, const std::vector<Edge>& edges,
                            int channel, std::vector<Message>& all) {
    const int n = static_cast<int>(edges.size());
    const int steps = (kind == CollectiveKind::all_reduce ? 2 : 1) * (n - 1);
    for (int step = 0; step < steps; ++step) {
      for (const Edge& edge : edges) {
        all.push_back({step, channel, edge.from, edge.to, part / n, edge.route});
      }
    }
  }

  // The part travels in slices along the chain: slice j crosses hop h in step h + j.
  static void chain_messages(CollectiveKind kind, Bytes part, std::vector<Edge> edges, GpuId root,
                             int channel, std::vector<Message>& all) {
    const bool out = kind == CollectiveKind::broadcast;
    const auto first = std::find_if(edges.begin(), edges.end(),
                                    [&](const Edge& edge) { return edge.from == root; });
    std::rotate(edges.begin(), first, edges.end());
    if (out) {
      edges.pop_back();  // the edge into the root
    } else {
      edges.erase(edges.begin());  // the edge out of the root
    }
    const int slices = std::max(1, static_cast<int>(std::ceil(part.value() / slice_bytes)));
    for (int slice = 0; slice < slices; ++slice) {
      for (std::size_t hop = 0; hop < edges.size(); ++hop) {
        all.push_back({slice + static_cast<int>(hop), channel, edges[hop].from, edges[hop].to,
                       part / slices, edges[hop].route});
      }
    }
  }
};

}  // namespace

std::unique_ptr<CollectiveAlgorithm> algorithm_ring() { return std::make_unique<Ring>(); }

}  // namespace amsp
