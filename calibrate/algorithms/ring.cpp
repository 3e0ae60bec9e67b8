// SPDX-License-Identifier: Apache-2.0
// Ring: one ring per channel; a channel enters each node by its NIC, visits the node's GPUs over
// NVLink and leaves by the same NIC. Reductions and gathers go once or twice around; broadcast and
// reduce are pipelined chains, a ring without the edge into (out of) the root.
#include <algorithm>
#include <cmath>

#include "calibrate/group_layout.hpp"
#include "calibrate/nccl_algorithm.hpp"

namespace amsp {
namespace {

struct Edge {
  GpuId from, to;
  std::vector<LinkId> route;
};

// Calls `visit` with each edge in turn; edge i leads from the i-th GPU of the ring to the next.
template <class Visit>
void visit_edges(const GroupLayout& layout, int channel, const Network& network,
                 const Visit& visit) {
  Edge edge;
  std::vector<GpuId> here = layout.chain(0, channel, network);
  const std::vector<GpuId> first = here;
  for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
    for (std::size_t i = 0; i + 1 < here.size(); ++i) {
      edge.from = here[i];
      edge.to = here[i + 1];
      edge.route.clear();
      network.route_inside(edge.from, edge.to, edge.route);
      visit(edge);
    }
    const std::size_t next = (node + 1) % layout.nodes.size();
    const std::vector<GpuId> there = next == 0 ? first : layout.chain(next, channel, network);
    edge.from = here.back();
    edge.to = there.front();
    edge.route.clear();
    if (layout.nodes.size() == 1) {
      network.route_inside(edge.from, edge.to, edge.route);
    } else {
      append_hop(network, edge.from, here.front(), layout.nic(node, channel), edge.to,
                 layout.nic(next, channel), channel, edge.route);
    }
    visit(edge);
    here = there;
  }
}

// All rings of the group: one per channel, on each ring of an NVLink mesh.
std::vector<std::vector<Edge>> all_rings(const GroupLayout& layout, const Network& network) {
  std::vector<std::vector<Edge>> rings;
  for (const GroupLayout& turned : mesh_layouts(layout, network.cluster())) {
    for (int channel = 0; channel < layout.channels; ++channel) {
      auto& edges = rings.emplace_back();
      edges.reserve(static_cast<std::size_t>(layout.ranks));
      visit_edges(turned, channel, network, [&](const Edge& edge) { edges.push_back(edge); });
    }
  }
  return rings;
}

bool is_chain(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
}

// NCCL's slice of a Simple ring: 2 of 8 slots of 512 KiB (NCCL, src/enqueue.cc and src/device).
constexpr double slice_bytes = 1048576.0;

// NCCL's tables of rings, src/graph/tuning.cc, in microseconds (LL, LL128, Simple) and GB/s.
using nccl_table::ByProtocol, nccl_table::at;
constexpr ByProtocol base_ring{6.6, 14, 8.4};
constexpr ByProtocol nvlink_ring{0.6, 1.9, 3.4}, pcie_ring{1.0, 2.5, 5.7}, net_ring{2.7, 4.0, 14};
constexpr double ring_ll128[4] = {20, 20, 36.7, 40};  // a channel, by generation

NcclTime tuner_latency(const NcclCall& call, const NcclGraph& graph, const NcclSystem& system) {
  const ByProtocol& inside = system.pcie ? pcie_ring : nvlink_ring;
  const GroupShape& shape = call.shape;
  const ByProtocol& across = shape.ranks_per_node == 1 ? nccl_table::net_tree : net_ring;
  const double steps = nccl_steps(call.kind, shape);
  const std::size_t p = at(call.protocol);
  const bool simple = call.protocol == Protocol::simple;
  if (is_chain(call.kind)) {
    const ByProtocol& tree = system.pcie ? nccl_table::pcie_tree : nccl_table::nvlink_tree;
    const double hop = simple && !graph.same_channels ? tree[p] : inside[p];
    return NcclTime(base_ring[p] + (graph.same_channels ? 1.0 : steps) * hop);
  }
  const double turns = call.kind == CollectiveKind::all_reduce ? 2 : 1;
  const double between = shape.nodes > 1 ? turns * (shape.nodes - 1) : 0;
  const double overhead = shape.nodes > 1 ? (simple ? 3.0 : 1.0) : 0.0;
  return NcclTime(base_ring[p] + (steps - between) * std::max(inside[p], overhead) +
                  between * across[p]);
}

NcclRate tuner_bus(const NcclCall& call, const NcclGraph& graph, const NcclSystem& system) {
  const NcclRate bus = bus_of(graph, graph.inside, call.shape);
  if (call.protocol == Protocol::simple) return bus;
  if (call.protocol == Protocol::ll) return std::min(most_of_ll(call.shape, system), 0.5 * bus);
  return std::min(0.92 * bus, NcclRate(graph.channels * ring_ll128[at(system.generation)]));
}

struct Hops {
  double inside = 0;
  double across = 0;
};

// NCCL src/graph/tuning.cc: 2(n-1) steps of an all_reduce, 2(N-1) of them between nodes; half of
// that for all_gather and reduce_scatter; a broadcast's or reduce's chain has n-1 hops.
Hops hops_of(CollectiveKind kind, const GroupShape& shape) {
  const double turns = kind == CollectiveKind::all_reduce ? 2 : 1;
  const double across = shape.nodes > 1 ? turns * (shape.nodes - 1) : 0;
  return {turns * (shape.ranks - 1) - across, across};
}

// How much longer LL and LL128 take for their bytes: half of LL's words are flags.
double protocol_stretch(Protocol protocol, const PhysicsParameters& p) {
  if (protocol == Protocol::ll) return 2;
  return protocol == Protocol::ll128 ? 1 / p[Parameter::share_ll128] : 1;
}

// The way of one block around the ring: every hop takes its time and that of one piece.
Seconds path_of(const NcclCall& call, const PhysicsParameters& p) {
  const GroupShape& shape = call.shape;
  const int channels = shape.nodes > 1 ? call.nics : 1;
  const double message = call.bytes.value() / (static_cast<double>(shape.ranks) * channels);
  const double most = p[Parameter::step_bytes];
  double piece = message * most / (message + most);
  // A chain streams: its pieces are no larger than one slice, whatever the number of ranks.
  if (is_chain(call.kind)) {
    const double share = call.bytes.value() / (4.0 * channels);
    piece = share * most / (share + most);
  }
  const double stretch = protocol_stretch(call.protocol, p);
  const double inside = of_protocol(p, Parameter::inside_ll, call.protocol).value() +
                        stretch * channels * piece / p[Parameter::rate_inside];
  const double scale = std::pow(shape.nodes / 2.0, p[Parameter::across_growth]);
  const double across = of_protocol(p, Parameter::across_ll, call.protocol).value() * scale +
                        stretch * piece / p[Parameter::rate_nic];
  const Hops hops = hops_of(call.kind, shape);
  return Seconds(hops.inside * inside + hops.across * across);
}

// What a step sends over each NIC.
Bytes step_over_nic(const NcclCall& call) {
  return call.bytes / (static_cast<double>(call.shape.ranks) * call.nics);
}

// Between nodes the messages of a step leave each NIC no sooner than the gap (LogGP's g).
// Slingshot's Simple rings take 44 us a step whether a rank has 2 or 4 MiB. A smaller step has
// fewer of NCCL's slices of at least 32 KiB (src/device/prims_simple.h) on fewer channels, and so
// takes less; but where small messages go another way (Slingshot: 72 us with 1 MiB a rank, 36 with
// half), more.
Seconds gaps(const NcclCall& call, const PhysicsParameters& p) {
  if (call.protocol != Protocol::simple || call.shape.nodes == 1 || is_chain(call.kind)) {
    return Seconds(0);
  }
  const double part = step_over_nic(call) / Bytes(p[Parameter::small_step]);
  constexpr double abrupt = 12;  // all but a step between one power of two and the next
  const double share = 1 / (1 + std::pow(part, abrupt));
  // Never above the gap of a stretch of 1: no more than the lesser of part and 1, without its kink.
  const double few = part * std::pow(share, 1 / abrupt) * p[Parameter::small_stretch];
  return nccl_steps(call.kind, call.shape) * (share * few + (1 - share)) *
         Seconds(p[Parameter::gap_simple]);
}

class Ring : public NcclAlgorithm {
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
        chain_messages(kind, part, rings[channel], group[position(root)], number, all);
      } else {
        ring_messages(kind, part, rings[channel], number, all);
      }
    }
    return all;
  }

  NcclVersion since() const override { return {1, 0, 0}; }
  Protocols offered(CollectiveKind kind, const GroupShape& shape,
                    const Hardware& hardware) const override {
    return supports(kind) ? every_protocol(shape, hardware) : Protocols{};
  }
  WireBytes wire_bytes(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                       int nics) const override {
    const double share = bus_factor(kind, shape.ranks);
    return {bytes * (shape.ranks_per_node > 1 ? share : 0),
            shape.nodes > 1 ? bytes * (share / nics) : Bytes(0)};
  }
  Seconds protocol_limit(const NcclCall& call, const PhysicsParameters& p) const override {
    if (call.protocol == Protocol::ll128) {
      return call.bytes * bus_factor(call.kind, call.shape.ranks) /
             Bandwidth(p[Parameter::ceiling_ll128]);
    }
    // The host looks at the flags of so many bytes of a step; once all channels have a message, a
    // larger one holds it no longer (Polaris: 31 us with 32 and with 64 KiB a rank).
    const double under = std::min(1.0, Bytes(p[Parameter::ll_step]) / step_over_nic(call));
    return NcclAlgorithm::protocol_limit(call, p) * under;
  }

  // As slow as the way of one block or as the fullest link, with a soft passage.
  Seconds latency(const NcclCall& call, Seconds transfer,
                  const PhysicsParameters& p) const override {
    const Seconds base = of_protocol(p, Parameter::base_ll, call.protocol);
    const Seconds path = path_of(call, p);
    const Seconds streaming = std::max(transfer, gaps(call, p));
    const double power = is_chain(call.kind) ? 1.0 : 1 + p[Parameter::overlap];
    const Seconds longest = std::max(path, streaming);
    const Seconds total =
        longest *
        std::pow(std::pow(path / longest, power) + std::pow(streaming / longest, power), 1 / power);
    return base + total - transfer;
  }

  TunerTime tuner_time(const NcclCall& call, const NcclGraph& graph,
                       const NcclSystem& system) const override {
    NcclTime latency = tuner_latency(call, graph, system);
    const double units = std::max(1.0, call.bytes.value() / 64);
    if (call.protocol == Protocol::simple && call.shape.nodes > 1 &&
        call.kind == CollectiveKind::all_reduce &&
        units >= static_cast<double>(graph.channels) * call.shape.ranks) {
      latency *= system.generation == GpuGeneration::volta ? 1.9 : 1.4;
    }
    return tuner_time_of(latency, tuner_bus(call, graph, system) * call.shape.ranks /
                                      nccl_steps(call.kind, call.shape));
  }

 private:
  Bytes add_loads(const GroupCall& call, const GroupLayout& layout, const Network& network,
                  LoadSum& sum) const override {
    const auto layouts = mesh_layouts(layout, network.cluster());
    const auto add = [&](const Edge& edge) {
      const bool unused =
          (call.kind == CollectiveKind::broadcast && edge.to == call.group[position(call.root)]) ||
          (call.kind == CollectiveKind::reduce && edge.from == call.group[position(call.root)]);
      if (!unused) sum.add(edge.route, 1.0);
    };
    for (const GroupLayout& turned : layouts) {
      for (int channel = 0; channel < layout.channels; ++channel) {
        visit_edges(turned, channel, network, add);
      }
    }
    const double rings = static_cast<double>(layouts.size()) * layout.channels;
    const double share = bus_factor(call.kind, layout.ranks) / rings;
    return call.bytes * share;
  }

  static std::size_t position(int root) { return static_cast<std::size_t>(root); }

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
