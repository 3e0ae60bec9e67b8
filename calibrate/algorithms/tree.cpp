// SPDX-License-Identifier: Apache-2.0
// Tree: NCCL's double binary tree across nodes, a chain inside each node. Half of the data goes up
// and down each tree; a node that forwards in one tree is a leaf in the other, so that each NIC
// carries about 2 x bytes / channels each way, whatever the number of nodes.
#include <algorithm>
#include <cmath>

#include "calibrate/group_layout.hpp"
#include "calibrate/tree_shape.hpp"

namespace amsp {
namespace {

struct Edge {
  GpuId child, parent;
  int height, depth;  // of the child, in hops, chains included
  std::vector<LinkId> up, down;
};

// Edges of one tree of one channel: along each node's chain to its head, and from head to the
// parent's head.
std::vector<Edge> tree_edges(const GroupLayout& layout, int channel, const TreeShape& shape,
                             const Network& network) {
  const ClusterSpec& cluster = network.cluster();
  std::vector<Edge> edges;
  for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
    const auto chain = layout.chain(node, channel, cluster);
    const int length = static_cast<int>(chain.size());
    const int base = shape.depth[node];
    for (int i = 1; i < length; ++i) {
      const auto at = static_cast<std::size_t>(i);
      edges.push_back({chain[at], chain[at - 1], length - 1 - i, base + i, {}, {}});
      network.route_inside(chain[at], chain[at - 1], edges.back().up);
      network.route_inside(chain[at - 1], chain[at], edges.back().down);
    }
    if (shape.parent[node] < 0) continue;
    const auto above = static_cast<std::size_t>(shape.parent[node]);
    const GpuId head = layout.chain(above, channel, cluster).front();
    edges.push_back({chain.front(), head, length - 1 + shape.height[node], base, {}, {}});
    append_hop(network, chain.front(), chain.front(), layout.nic(node, channel), head,
               layout.nic(above, channel), channel, edges.back().up);
    append_hop(network, head, head, layout.nic(above, channel), chain.front(),
               layout.nic(node, channel), channel, edges.back().down);
  }
  return edges;
}

// NCCL's chunk of a Simple tree (src/enqueue.cc: one slot of 512 KiB).
constexpr double chunk_bytes = 524288.0;

class Tree : public CollectiveAlgorithm {
 public:
  std::string_view name() const override { return "tree"; }
  std::string_view description() const override {
    return "double binary tree over nodes, a chain inside each: all_reduce";
  }
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }

  Traffic traffic(CollectiveKind, Bytes bytes, std::span<const GpuId> group, int,
                  const Network& network) const override {
    if (group.size() < 2) return {};
    const GroupLayout layout(group, network);
    const auto layouts = mesh_layouts(layout, network.cluster());
    LoadSum sum(network);
    for (int tree = 0; tree < 2; ++tree) {
      const TreeShape shape = tree_shape(tree, static_cast<int>(layout.nodes.size()));
      for (const GroupLayout& turned : layouts) {
        for (int channel = 0; channel < layout.channels; ++channel) {
          for (const Edge& edge : tree_edges(turned, channel, shape, network)) {
            sum.add(edge.up, 1.0);
            sum.add(edge.down, 1.0);
          }
        }
      }
    }
    return {bytes / (2.0 * layout.channels * static_cast<double>(layouts.size())), sum.take()};
  }

  std::vector<Message> messages(CollectiveKind, Bytes bytes, std::span<const GpuId> group, int,
                                const Network& network) const override {
    std::vector<Message> all;
    if (group.size() < 2) return all;
    const GroupLayout layout(group, network);
    const auto layouts = mesh_layouts(layout, network.cluster());
    const Bytes part = bytes / (2.0 * layout.channels * static_cast<double>(layouts.size()));
    const int chunks = std::max(1, static_cast<int>(std::ceil(part.value() / chunk_bytes)));
    for (int tree = 0; tree < 2; ++tree) {
      const TreeShape shape = tree_shape(tree, static_cast<int>(layout.nodes.size()));
      int number = tree;  // of the channel; two trees each
      for (const GroupLayout& turned : layouts) {
        for (int channel = 0; channel < layout.channels; ++channel, number += 2) {
          const auto edges = tree_edges(turned, channel, shape, network);
          pipeline(edges, number, part / chunks, chunks, all);
        }
      }
    }
    return all;
  }

 private:
  // Chunk j leaves a node of height h upwards in step h + j; the root, of height H, sends it down
  // in step H + j, and a node of depth d passes it on d steps later.
  static void pipeline(const std::vector<Edge>& edges, int channel, Bytes chunk, int chunks,
                       std::vector<Message>& all) {
    int top = 0;
    for (const Edge& edge : edges) top = std::max(top, edge.height + 1);
    for (int j = 0; j < chunks; ++j) {
      for (const Edge& edge : edges) {
        all.push_back({edge.height + j, channel, edge.child, edge.parent, chunk, edge.up});
        all.push_back(
            {top + edge.depth - 1 + j, channel, edge.parent, edge.child, chunk, edge.down});
      }
    }
  }
};

}  // namespace

std::unique_ptr<CollectiveAlgorithm> algorithm_tree() { return std::make_unique<Tree>(); }

}  // namespace amsp
