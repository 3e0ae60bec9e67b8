// SPDX-License-Identifier: Apache-2.0
// Tree: NCCL's double binary tree across nodes, a chain inside each node. Half of the data goes up
// and down each tree; a node that forwards in one tree is a leaf in the other, so that each NIC
// carries about 2 x bytes / channels each way, whatever the number of nodes.
#include <algorithm>
#include <cmath>

#include "calibrate/group_layout.hpp"
#include "calibrate/nccl_algorithm.hpp"
#include "calibrate/tree_shape.hpp"
#include "calibrate/tree_time.hpp"

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
  std::vector<Edge> edges;
  for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
    const auto chain = layout.chain(node, channel, network);
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
    const GpuId head = layout.chain(above, channel, network).front();
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

// NCCL's tables of trees, src/graph/tuning.cc, in microseconds (LL, LL128, Simple) and GB/s of a
// channel.
using nccl_table::ByGeneration, nccl_table::ByProtocol, nccl_table::at;
constexpr ByProtocol base_tree{6.8, 14, 8.4};
constexpr ByGeneration tree_ll128{
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
constexpr ByGeneration tree_channel{
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
// Factor on the rate by floor(log2(bytes / 64)), up to 256 MiB.
constexpr double correction[3][23] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}};

NcclRate tuner_bus(const NcclCall& call, const NcclGraph& graph, const NcclSystem& system) {
  const std::size_t g = at(system.generation), n = nccl_table::column(call.shape.nodes);
  const NcclRate bus = bus_of(graph, graph.tree_inside, call.shape);
  NcclRate rate = std::min(0.92 * bus, NcclRate(graph.channels * tree_channel[g][n]));
  if (call.protocol == Protocol::ll) rate = std::min(rate / 3.8, most_of_ll(call.shape, system));
  if (call.protocol == Protocol::ll128) {
    const double share = call.shape.nodes == 1 ? 7.0 / 9 : 120.0 / 128;
    rate = std::min(rate * share, NcclRate(graph.channels * tree_ll128[g][n]));
  }
  return graph.plain_tree ? 0.85 * rate : rate;
}

class Tree : public NcclAlgorithm {
 public:
  std::string_view name() const override { return "tree"; }
  std::string_view description() const override {
    return "double binary tree over nodes, a chain inside each: all_reduce";
  }
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }

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

  NcclVersion since() const override { return {2, 4, 2}; }
  Protocols offered(CollectiveKind kind, const GroupShape& shape,
                    const Hardware& hardware) const override {
    if (!supports(kind) || shape.nodes < 2) return {};
    return every_protocol(shape, hardware);
  }
  // In the middle of a chain a GPU carries 2 x bytes each way (up and down), at its ends 1 x. A
  // node's chains, one for each NIC, begin at different GPUs, so this is a bound: each GPU is at an
  // end of some of them where there are half as many chains as GPUs or more.
  WireBytes wire_bytes(CollectiveKind, Bytes bytes, const GroupShape& shape,
                       int nics) const override {
    const int per_node = shape.ranks_per_node;
    return {bytes * (per_node < 2 ? 0 : per_node == 2 ? 1 : 2), tree_nic_bytes(bytes, shape, nics)};
  }
  Seconds stretched(Seconds transfer, const GroupShape& shape,
                    const PhysicsParameters& p) const override {
    return transfer * tree_loss(shape, p) / p[Parameter::share_tree];
  }
  // Up and down: the chain inside, the tree across.
  Seconds latency(const NcclCall& call, Seconds, const PhysicsParameters& p) const override {
    const Seconds inside =
        2.0 * (call.shape.ranks_per_node - 1) * of_protocol(p, Parameter::inside_ll, call.protocol);
    return of_protocol(p, Parameter::base_ll, call.protocol) + (inside + tree_path_across(call, p));
  }

  std::optional<Parameter> choice_factor(const GroupShape& shape) const override {
    return shape.nodes <= 2 ? Parameter::choose_tree : Parameter::choose_wide_tree;
  }
  TunerTime tuner_time(const NcclCall& call, const NcclGraph& graph,
                       const NcclSystem& system) const override {
    const ByProtocol& inside = system.pcie ? nccl_table::pcie_tree : nccl_table::nvlink_tree;
    const std::size_t p = at(call.protocol);
    const double levels = floor_log2(call.shape.nodes);
    const NcclTime latency(base_tree[p] + 2 * ((call.shape.ranks_per_node - 1) * inside[p] +
                                               levels * nccl_table::net_tree[p]));
    NcclRate algbw = tuner_bus(call, graph, system) * 0.5;
    const double units = std::max(1.0, call.bytes.value() / 64);
    const auto index = static_cast<std::size_t>(std::log2(units));
    if (index < 23) algbw *= correction[p][index];
    return tuner_time_of(latency, algbw);
  }

 private:
  Bytes add_loads(const GroupCall& call, const GroupLayout& layout, const Network& network,
                  LoadSum& sum) const override {
    const auto layouts = mesh_layouts(layout, network.cluster());
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
    return call.bytes / (2.0 * layout.channels * static_cast<double>(layouts.size()));
  }

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
