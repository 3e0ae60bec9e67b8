// SPDX-License-Identifier: Apache-2.0
// PAT (parallel aggregated trees), NCCL 2.23 and later: all_gather and reduce_scatter of groups
// with one GPU on each node. In an all_gather every rank sends to the ranks 2^k ahead of it (NCCL,
// src/transport/generic.cc), the farthest first: few parts far, many near, each in one message of
// log2 n. A reduce_scatter is the same backwards. A NIC carries what a ring's does, (n-1)/n x
// bytes, in fewer steps.
#include <algorithm>
#include <bit>
#include <cmath>

#include "calibrate/group_layout.hpp"
#include "calibrate/nccl_algorithm.hpp"

namespace amsp {
namespace {

// src/graph/tuning.cc: base and the way of a tree's hop between nodes, which here takes a share of
// it; what each rank adds; the share of the tree graph's rate.
constexpr double base_us = 8, hop_share = 1 / 3.5, rank_us = 2.8, rate_share = 0.75;

// Steps, one for each distance 1, 2, 4 … below n.
int steps_of(int ranks) { return std::bit_width(static_cast<unsigned>(ranks - 1)); }

// How many of the n-1 foreign parts come from `distance` away: a part travels the distances in its
// way's binary digits, so these are the ways whose lowest digit it is.
int parts_over(int distance, int ranks) { return (ranks - 1 + distance) / (2 * distance); }

class Pat : public NcclAlgorithm {
 public:
  std::string_view name() const override { return "pat"; }
  std::string_view description() const override {
    return "aggregated binomial trees, one GPU per node, NCCL 2.23 on: all_gather, reduce_scatter";
  }
  bool supports(CollectiveKind kind) const override {
    return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
  }

  NcclVersion since() const override { return {2, 23, 4}; }
  Protocols offered(CollectiveKind kind, const GroupShape& shape, const Hardware&) const override {
    return {.simple = supports(kind) && shape.nodes > 1 && shape.nodes == shape.ranks};
  }
  WireBytes wire_bytes(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                       int nics) const override {
    return {Bytes(0), shape.nodes > 1 ? bytes * (bus_factor(kind, shape.ranks) / nics) : Bytes(0)};
  }
  Seconds stretched(Seconds transfer, const GroupShape&, const PhysicsParameters&) const override {
    return transfer / rate_share;
  }
  Seconds latency(const NcclCall& call, Seconds, const PhysicsParameters& p) const override {
    const double growth = std::pow(call.shape.nodes / 2.0, p[Parameter::across_growth]);
    const double steps = steps_of(call.shape.ranks) * hop_share * growth;
    return of_protocol(p, Parameter::base_ll, call.protocol) +
           steps * of_protocol(p, Parameter::across_ll, call.protocol) +
           microseconds(rank_us * call.shape.ranks);
  }

  TunerTime tuner_time(const NcclCall& call, const NcclGraph& graph,
                       const NcclSystem&) const override {
    const double hop = nccl_table::net_tree[nccl_table::at(call.protocol)] * hop_share;
    const NcclTime latency(base_us + floor_log2(call.shape.nodes) * hop +
                           rank_us * call.shape.ranks);
    return tuner_time_of(latency, rate_share * bus_of(graph, graph.tree_inside, call.shape));
  }

  std::vector<Message> messages(CollectiveKind kind, Bytes bytes, std::span<const GpuId> group, int,
                                const Network& network) const override {
    std::vector<Message> all;
    if (group.size() < 2) return all;
    const GroupLayout layout(group, network);
    const Bytes part = bytes / (static_cast<double>(layout.ranks) * layout.channels);
    const int last = steps_of(layout.ranks) - 1;
    for_sends(kind, layout, [&](std::size_t from, std::size_t to, int step, int parts) {
      const int order = kind == CollectiveKind::all_gather ? last - step : step;
      for (int channel = 0; channel < layout.channels; ++channel) {
        all.push_back({order, channel, gpu(layout, from), gpu(layout, to), part * parts, {}});
        append(layout, from, to, channel, network, all.back().route);
      }
    });
    return all;
  }

 private:
  Bytes add_loads(const GroupCall& call, const GroupLayout& layout, const Network& network,
                  LoadSum& sum) const override {
    std::vector<LinkId> route;
    for_sends(call.kind, layout, [&](std::size_t from, std::size_t to, int, int parts) {
      for (int channel = 0; channel < layout.channels; ++channel) {
        route.clear();
        append(layout, from, to, channel, network, route);
        sum.add(route, parts);
      }
    });
    return call.bytes / (static_cast<double>(layout.ranks) * layout.channels);
  }

  // Nodes hold one rank each. All sends over one distance after the other, the nearest first.
  template <class Visit>
  static void for_sends(CollectiveKind kind, const GroupLayout& layout, const Visit& visit) {
    const auto n = layout.nodes.size();
    for (int step = 0; step < steps_of(layout.ranks); ++step) {
      const std::size_t distance = std::size_t{1} << step;
      const int parts = parts_over(static_cast<int>(distance), layout.ranks);
      for (std::size_t from = 0; from < n; ++from) {
        const std::size_t ahead = kind == CollectiveKind::all_gather ? distance : n - distance;
        visit(from, (from + ahead) % n, step, parts);
      }
    }
  }

  static GpuId gpu(const GroupLayout& layout, std::size_t node) {
    return layout.nodes[node].gpus.front();
  }

  static void append(const GroupLayout& layout, std::size_t from, std::size_t to, int channel,
                     const Network& network, std::vector<LinkId>& route) {
    append_hop(network, gpu(layout, from), gpu(layout, from), layout.nic(from, channel),
               gpu(layout, to), layout.nic(to, channel), channel, route);
  }
};

}  // namespace

std::unique_ptr<CollectiveAlgorithm> algorithm_pat() { return std::make_unique<Pat>(); }

}  // namespace amsp
